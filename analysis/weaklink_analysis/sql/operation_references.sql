-- Grain: an operation other than a write that names a memory, to be resolved again:
-- those of this batch, and those that name a touched memory.
SELECT
    o.row_id AS a,
    CAST(o.ordinal AS BIGINT) AS b,
    o.name_key,
    o.store,
    o.time_ns,
    CAST(NULL AS INTEGER) AS own_version,
    CAST(NULL AS VARCHAR) AS own_store
FROM operations AS o
WHERE
    o.name_key IS NOT NULL
    AND o.kind <> 'write'
    AND (
        o.name_key IN (SELECT name_key FROM touched)
        OR o.row_id IN (SELECT row_id FROM named_operations)
    )
