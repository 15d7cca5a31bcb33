-- Mastra, by its OTLP exporter, which tells no operation; so what it was is seen from what it was given.
-- Grain: a row a message that was saved; one row for a span that names none.
WITH operations AS (
    SELECT
        *,
        CASE WHEN json_valid("mastra.memory_operation.input") THEN json("mastra.memory_operation.input") END AS input,
        CASE
            WHEN json_exists(input, '$.result') THEN 'write'
            WHEN json_exists(input, '$.systemMessages') OR json_exists(input, '$.threadId') THEN 'read'
            ELSE 'other'  -- a save or a delete, nobody knows
        END AS kind,
        CASE
            WHEN kind = 'write' AND json_type(input, '$.messages') = 'ARRAY'
                THEN CAST(json_extract(input, '$.messages') AS JSON[])
        END AS messages
    FROM candidates
),
named AS (
    SELECT
        *,
        unnest(CASE WHEN len(messages) > 0 THEN messages ELSE [CAST(NULL AS JSON)] END) AS message,
        unnest(range(greatest(coalesce(len(messages), 0), 1))) AS ordinal
    FROM operations
)
SELECT
    row_id,
    ordinal,
    kind,
    json_extract_string(message, '$.id') AS memory_id
FROM named
