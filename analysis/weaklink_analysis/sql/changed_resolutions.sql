-- Grain: an operation that means another version than before (a write: the one it made), or, while it means none, perhaps
-- another memory: without a store it means the one store that has the memory, and now another has it, or one less.
WITH rehomed AS (
    SELECT name_key FROM changed_versions WHERE version = 1
    UNION ALL
    SELECT name_key FROM removed_versions
)
SELECT o.a AS row_id, o.b AS ordinal, n.version_key
FROM refs AS o
INNER JOIN resolved AS n ON o.a = n.a AND o.b = n.b
WHERE
    o.known_key IS DISTINCT FROM n.version_key
    OR (n.version_key IS NULL AND o.store = '' AND o.name_key IN (SELECT name_key FROM rehomed))
UNION ALL
SELECT w.row_id, w.ordinal, v.version_key
FROM history AS w
LEFT JOIN (
    SELECT row_id, ordinal, version_key
    FROM known_versions
    ANTI JOIN (SELECT version_key FROM changed_versions UNION ALL SELECT version_key FROM removed_versions)
        USING (version_key)
    UNION ALL
    SELECT row_id, ordinal, version_key FROM changed_versions
) AS v ON w.row_id = v.row_id AND w.ordinal = v.ordinal
WHERE w.kind = 'write' AND w.version_key IS DISTINCT FROM v.version_key
