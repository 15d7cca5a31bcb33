-- Grain: a child version and a parent id it names, to be resolved again:
-- those of changed versions, and those that name a touched memory.
SELECT
    c.version_key AS a,
    n.name_key AS b,
    n.name_key,
    c.named_store AS store,
    c.time_ns,
    CASE WHEN n.name_key = c.name_key THEN c.version END AS own_version,
    c.store AS own_store
FROM parent_names AS c
INNER JOIN known_names AS n ON c.environment = n.environment AND c.parent_id = n.memory_id
UNION ALL
SELECT
    e.child_key,
    e.parent_name_key,
    e.parent_name_key,
    v.named_store,
    v.time_ns,
    CASE WHEN e.parent_name_key = v.name_key THEN v.version END,
    v.store
FROM known_edges AS e
INNER JOIN versions AS v ON e.child_key = v.version_key
