-- Grain: an operation that means another version than before (a write: the one it made), or, while it means none, perhaps
-- another memory: without a store it means the one store that has the memory, and now another has it, or one less.
WITH rehomed AS (
    SELECT name_key FROM changed_versions WHERE version = 1
    UNION ALL
    SELECT name_key FROM removed_versions
)
SELECT o.row_id, o.ordinal, n.version_key
FROM operations AS o
INNER JOIN (
    SELECT a AS row_id, b AS ordinal, version_key FROM resolved
    UNION ALL
    SELECT w.row_id, w.ordinal, v.version_key
    FROM operations AS w
    LEFT JOIN versions AS v ON w.row_id = v.row_id AND w.ordinal = v.ordinal
    WHERE w.kind = 'write' AND w.name_key IN (SELECT name_key FROM touched)
) AS n ON o.row_id = n.row_id AND o.ordinal = n.ordinal
WHERE
    o.version_key IS DISTINCT FROM n.version_key
    OR (n.version_key IS NULL AND o.store = '' AND o.name_key IN (SELECT name_key FROM rehomed))
