-- mem0 under LoongSuite's instrumentation. What mem0 answered is Python's text of it, if content is captured at all.
-- Grain: a row a record that the span names; one row for a span that names none.
WITH operations AS (
    SELECT
        *,
        CASE "gen_ai.memory.operation"
            WHEN 'add' THEN 'write'
            WHEN 'update' THEN 'write'
            WHEN 'batch_update' THEN 'write'
            WHEN 'search' THEN 'read'
            WHEN 'get' THEN 'read'
            WHEN 'get_all' THEN 'read'
            WHEN 'history' THEN 'lineage'
            WHEN 'delete' THEN 'delete'
            WHEN 'batch_delete' THEN 'delete'
            WHEN 'delete_all' THEN 'delete'
            ELSE 'other'
        END AS kind,
        -- Python's texts in quotes, and what is between them.
        regexp_extract_all(
            "gen_ai.memory.output.messages", '''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"|[^''"]+'
        ) AS pieces
    FROM candidates
    WHERE "gen_ai.memory.operation" IS NOT NULL  -- Mastra's spans are memory_operation, too
),
answered AS (
    SELECT
        *,
        -- The same as JSON: a text's escapes are JSON's, but for \', \xNN and \UNNNNNNNN.
        array_to_string(list_transform(pieces, lambda piece: CASE
            WHEN piece[1] IN ('''', '"') THEN '"' || regexp_replace(
                regexp_replace(
                    CASE piece[1] WHEN '"' THEN piece[2:-2] ELSE replace(replace(piece[2:-2], '\''', ''''), '"', '\"') END,
                    '\\x([0-9a-f]{2})', '\\u00\1', 'g'
                ),
                '\\U[0-9a-f]{8}', '?', 'g'
            ) || '"'
            ELSE replace(replace(replace(piece, 'None', 'null'), 'True', 'true'), 'False', 'false')
        END), '') AS answer
    FROM operations
),
found AS (
    SELECT
        *,
        CASE WHEN json_valid(answer) THEN CASE
            WHEN json_type(answer, '$.results') = 'ARRAY' THEN CAST(json_extract(answer, '$.results') AS JSON[])
            WHEN json_type(answer) = 'ARRAY' THEN CAST(json(answer) AS JSON[])
            WHEN json_type(answer, '$.id') = 'VARCHAR' THEN [json(answer)]
        END END AS records
    FROM answered
),
named AS (
    SELECT
        *,
        unnest(CASE WHEN len(records) > 0 THEN records ELSE [CAST(NULL AS JSON)] END) AS record,
        unnest(range(greatest(coalesce(len(records), 0), 1))) AS ordinal
    FROM found
)
SELECT
    row_id,
    ordinal,
    CASE json_extract_string(record, '$.event')
        WHEN 'DELETE' THEN 'delete'
        WHEN 'NONE' THEN 'other'
        ELSE kind
    END AS kind,
    coalesce(json_extract_string(record, '$.id'), CASE WHEN record IS NULL THEN "gen_ai.memory.id" END) AS memory_id,
    "gen_ai.memory.memory_type" AS memory_type,
    "gen_ai.memory.agent_id" AS own_agent,
    json_extract_string(record, '$.agent_id') AS record_agent,
    coalesce(json_extract_string(record, '$.run_id'), "gen_ai.memory.run_id") AS record_session,
    CAST(json_extract(record, '$.metadata') AS VARCHAR) AS metadata,
    TRY_CAST(json_extract_string(record, '$.score') AS DOUBLE) AS score,
    CASE WHEN "gen_ai.memory.operation" = 'search' AND record IS NOT NULL THEN ordinal + 1 END AS rank,
    kind IN ('write', 'read', 'lineage') AND coalesce("gen_ai.memory.result_count", '') <> '0' AS counted
FROM named
