-- Grain: a decision and a memory that it relied on, in the version that it stood on then; null: none was known.
-- The memories that it names; else those that were read in its agent run, before it if it is not the run itself; else the
-- parents of the memory that it wrote.
WITH named AS (
    SELECT c.trace, c.span, c.name_key, r.store, r.version_key
    FROM citations AS c
    INNER JOIN resolved AS r ON c.row_id = r.a AND c.name_key = r.b
    SEMI JOIN decided AS d ON c.trace = d.trace AND c.span = d.span
),
wordless AS (
    SELECT d.* FROM decided AS d ANTI JOIN named AS n ON d.trace = n.trace AND d.span = n.span
),
shown AS (
    SELECT d.trace, d.span, o.name_key, o.store, max_by(o.version_key, (o.time_ns, o.span, o.ordinal)) AS version_key
    FROM wordless AS d
    INNER JOIN due_reads AS o ON d.trace = o.trace AND d.run = o.run
    WHERE d.span = d.run OR o.time_ns <= d.start_ns
    GROUP BY d.trace, d.span, o.name_key, o.store
),
derived AS (
    SELECT d.trace, d.span, e.parent_name_key AS name_key, coalesce(v.store, r.store) AS store, e.parent_key AS version_key
    FROM wordless AS d
    ANTI JOIN shown AS s ON d.trace = s.trace AND d.span = s.span
    INNER JOIN edges AS e ON d.memory_key = e.child_key
    LEFT JOIN versions AS v ON e.parent_key = v.version_key
    LEFT JOIN resolved AS r ON r.a = -1 - e.child_key AND e.parent_name_key = r.b
)
FROM named UNION ALL FROM shown UNION ALL FROM derived
