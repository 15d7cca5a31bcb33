-- Grain: an operation other than a write that names a memory, to be resolved again:
-- those of this batch, and those that name a touched memory.
SELECT
    o.row_id AS a,
    CAST(o.ordinal AS BIGINT) AS b,
    o.name_key,
    o.store,
    o.time_ns,
    CAST(NULL AS INTEGER) AS own_version,
    CAST(NULL AS VARCHAR) AS own_store,
    o.version_key AS known_key
FROM (
    SELECT row_id, ordinal, name_key, store, time_ns, kind, version_key FROM history
    UNION ALL
    SELECT o.row_id, o.ordinal, o.name_key, o.store, o.time_ns, o.kind, o.version_key
    FROM operations AS o
    SEMI JOIN named_operations AS n ON o.row_id = n.row_id
    ANTI JOIN touched AS t ON o.name_key = t.name_key
) AS o
WHERE o.name_key IS NOT NULL AND o.kind <> 'write'
