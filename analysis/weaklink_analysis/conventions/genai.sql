-- OpenTelemetry GenAI memory spans (development status), with weaklink's provenance keys:
-- each record's `metadata`, else the record itself, else the span's `memory.*` attributes.
-- Grain: one row a record that the span names; one row for a span that names none.
WITH operations AS (
    SELECT
        *,
        CASE "gen_ai.operation.name"
            WHEN 'create_memory' THEN 'write'
            WHEN 'update_memory' THEN 'write'
            WHEN 'upsert_memory' THEN 'write'
            WHEN 'search_memory' THEN 'read'
            WHEN 'delete_memory' THEN 'delete'
            WHEN 'record_memory_outcome' THEN 'outcome'
            ELSE 'other'
        END AS kind,
        CASE
            WHEN json_valid("gen_ai.memory.records") AND json_type("gen_ai.memory.records") = 'ARRAY'
                THEN CAST(json("gen_ai.memory.records") AS JSON[])
        END AS listed
    FROM candidates
),
-- A list of what is no record names none, but does not say that none was found. Many SDKs have lists of texts alone:
-- a text that is a record in JSON is that record.
recorded AS (
    SELECT
        *,
        list_filter(
            [TRY_CAST(json_extract_string(each, '$') AS JSON) FOR each IN listed],
            lambda record: json_type(record) = 'OBJECT'
        ) AS records
    FROM operations
),
named AS (
    SELECT
        *,
        unnest(CASE WHEN len(records) > 0 THEN records ELSE [CAST(NULL AS JSON)] END) AS record,
        unnest(range(greatest(coalesce(len(records), 0), 1))) AS ordinal
    FROM recorded
),
described AS (
    SELECT
        *,
        CASE json_type(record, '$.metadata')
            WHEN 'OBJECT' THEN json_extract(record, '$.metadata')
            WHEN 'VARCHAR' THEN CASE
                WHEN json_valid(json_extract_string(record, '$.metadata'))
                    THEN json(json_extract_string(record, '$.metadata'))
            END
        END AS metadata
    FROM named
)
SELECT
    row_id,
    ordinal,
    kind,
    "gen_ai.memory.store.id" AS store,
    coalesce(
        json_extract_string(record, '$.id'),
        CASE WHEN coalesce(len(records), 0) <= 1 THEN "gen_ai.memory.record.id" END
    ) AS memory_id,
    coalesce(json_extract_string(metadata, '$.type'), json_extract_string(record, '$.type')) AS memory_type,
    coalesce(
        json_extract_string(metadata, '$.namespace'), json_extract_string(record, '$.namespace')
    ) AS namespace,
    list_filter(
        [
            json_extract_string(metadata, '$.created_by'), json_extract_string(metadata, '$.agent_id'),
            json_extract_string(record, '$.created_by'), json_extract_string(record, '$.agent_id')
        ],
        lambda agent: agent NOT IN ('', 'unknown')
    )[1] AS record_agent,
    "memory.agent.id" AS own_agent,
    list_filter(
        [json_extract_string(metadata, '$.session_id'), json_extract_string(record, '$.session_id')],
        lambda session: session NOT IN ('', 'unknown')
    )[1] AS record_session,
    coalesce(
        json_extract_string(metadata, '$.confidence'), json_extract_string(record, '$.confidence'), "memory.confidence"
    ) AS raw_confidence,
    coalesce(
        json_extract_string(metadata, '$.hedged'), json_extract_string(record, '$.hedged'), "memory.hedged"
    ) = 'true' AS hedged,
    coalesce(
        nullif(CAST(json_extract(metadata, '$.derived_from') AS VARCHAR), 'null'),
        nullif(CAST(json_extract(record, '$.derived_from') AS VARCHAR), 'null'),
        "memory.derived_from"
    ) AS parents_json,
    TRY_CAST(json_extract_string(record, '$.score') AS DOUBLE) AS score,
    CASE WHEN kind = 'read' AND record IS NOT NULL THEN ordinal + 1 END AS rank,
    "memory.success" = 'true' AS success,
    kind IN ('write', 'read')
    AND NOT (
        kind = 'read' AND record IS NULL AND "gen_ai.memory.record.id" IS NULL
        AND (coalesce(len(listed), 1) = 0 OR coalesce("gen_ai.memory.record.count", '') = '0')
    ) AS counted,
    CASE WHEN record IS NOT NULL THEN json_array(metadata, record) END AS about,
    NULL AS verb
FROM described
