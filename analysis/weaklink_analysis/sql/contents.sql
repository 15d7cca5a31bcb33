-- Grain: a content that is written more or less often with this batch, and where in the order of versions that begins.
WITH disputed AS (
    SELECT name_key FROM named_operations WHERE kind = 'conflict'
    UNION
    SELECT name_key FROM removed_operations WHERE kind = 'conflict'
)
SELECT content_key, min({'time_ns': time_ns, 'trace': trace, 'span': span, 'ordinal': ordinal}) AS since
FROM (
    SELECT content_key, time_ns, trace, span, ordinal FROM named_operations WHERE kind = 'write'
    UNION ALL
    SELECT content_key, time_ns, trace, span, ordinal FROM removed_operations WHERE kind = 'write'
    UNION ALL
    -- A conflict resolver refused one of these, or it turns out that it did not.
    SELECT o.content_key, o.time_ns, o.trace, o.span, o.ordinal
    FROM operations AS o
    SEMI JOIN disputed AS d ON o.name_key = d.name_key
    WHERE o.kind = 'write'
)
WHERE content_key IS NOT NULL
GROUP BY content_key
