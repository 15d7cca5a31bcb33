-- Grain: a reference whose version, or only whose memory, a decision asks for, in the columns that `resolved` takes.
-- The memories that it names (b: the name); reads that mean no version (b: the ordinal, counted from -1 down); parents of
-- its memory that mean none (a: the child, counted from -1 down).
SELECT
    c.row_id AS a, c.name_key AS b, c.name_key, c.store, c.start_ns AS time_ns, CAST(NULL AS INTEGER) AS own_version,
    CAST(NULL AS VARCHAR) AS own_store
FROM citations AS c
SEMI JOIN due AS d ON c.trace = d.trace
UNION ALL
SELECT o.row_id, -1 - o.ordinal, o.name_key, o.store, o.time_ns, NULL, NULL
FROM due_operations AS o
WHERE o.operation = 'read' AND o.name_key IS NOT NULL AND o.version_key IS NULL
UNION ALL
SELECT
    -1 - e.child_key, e.parent_name_key, e.parent_name_key, v.named_store, v.time_ns,
    CASE WHEN e.parent_name_key = v.name_key THEN v.version END, v.store
FROM edges AS e
SEMI JOIN decided AS d ON e.child_key = d.memory_key
INNER JOIN versions AS v ON e.child_key = v.version_key
WHERE e.parent_key IS NULL
