-- Grain: a name (environment, memory id) whose versions may differ after this batch.
SELECT DISTINCT name_key
FROM (
    SELECT name_key FROM removed_operations
    UNION ALL
    SELECT name_key FROM named_operations WHERE kind IN ('write', 'conflict') OR confidence IS NOT NULL
    UNION ALL
    SELECT name_key FROM inherited WHERE kind = 'write'
)
WHERE name_key IS NOT NULL
