-- Google ADK: the tool load_memory. What it found is the tool's result, if content is captured.
-- Grain: a row a record that the tool found; one row for a span that names none.
WITH results AS (
    SELECT
        *,
        coalesce("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response") AS result,
        CASE WHEN json_valid(result) THEN
            coalesce(json_extract(result, '$.result.memories'), json_extract(result, '$.memories'))
        END AS memories,
        CASE WHEN json_type(memories) = 'ARRAY' THEN CAST(memories AS JSON[]) END AS records
    FROM candidates
),
named AS (
    SELECT
        *,
        unnest(CASE WHEN len(records) > 0 THEN records ELSE [CAST(NULL AS JSON)] END) AS record,
        unnest(range(greatest(coalesce(len(records), 0), 1))) AS ordinal
    FROM results
)
SELECT
    row_id,
    ordinal,
    'read' AS kind,
    json_extract_string(record, '$.id') AS memory_id,
    json_extract_string(record, '$.author') AS record_agent,
    CAST(json_extract(record, '$.custom_metadata') AS VARCHAR) AS metadata,
    CASE WHEN record IS NOT NULL THEN ordinal + 1 END AS rank,
    coalesce(len(records), 1) > 0 AS counted
FROM named
WHERE "gen_ai.operation.name" = 'execute_tool'
