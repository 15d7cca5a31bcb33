-- Grain: a name (environment, memory id) whose versions may differ after this batch.
SELECT DISTINCT name_key
FROM (
    SELECT name_key FROM removed_operations
    UNION ALL
    SELECT name_key FROM named_operations WHERE kind IN ('write', 'conflict') OR confidence IS NOT NULL
    UNION ALL
    -- A `get` that turns out to be lineage shows no version any more.
    SELECT name_key FROM inherited WHERE kind IN ('write', 'get')
    UNION ALL
    SELECT name_key FROM extracted
    UNION ALL
    -- What was written before it again is counted once more, or once less.
    SELECT v.name_key
    FROM versions AS v
    INNER JOIN contents AS c ON v.content_key = c.content_key
    WHERE
        v.confidence_source = 'derived'
        AND {'time_ns': v.time_ns, 'trace': v.trace, 'span': v.span, 'ordinal': v.ordinal} > c.since
)
WHERE name_key IS NOT NULL
