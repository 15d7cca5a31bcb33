-- OpenTelemetry GenAI retrieval spans (development status), with weaklink's provenance keys in each document's
-- `metadata`, else in the document itself.
-- Grain: a row a document that the span names; one row for a span that names none.
WITH listed AS (
    SELECT
        *,
        CASE
            WHEN
                json_valid("gen_ai.retrieval.documents")
                AND json_type("gen_ai.retrieval.documents") = 'ARRAY'
                THEN list_filter(
                    CAST(json("gen_ai.retrieval.documents") AS JSON[]), lambda document: json_type(document) = 'OBJECT'
                )
        END AS documents
    FROM candidates
),
named AS (
    SELECT
        *,
        unnest(CASE WHEN len(documents) > 0 THEN documents ELSE [CAST(NULL AS JSON)] END) AS document,
        unnest(range(greatest(coalesce(len(documents), 0), 1))) AS ordinal
    FROM listed
)
SELECT
    row_id,
    ordinal,
    'read' AS kind,
    "gen_ai.data_source.id" AS store,
    json_extract_string(document, '$.id') AS memory_id,
    coalesce(
        CASE
            WHEN json_type(document, '$.metadata') IN ('OBJECT', 'VARCHAR')
                THEN json_extract_string(document, '$.metadata')
        END,
        CAST(document AS VARCHAR)
    ) AS metadata,
    TRY_CAST(json_extract_string(document, '$.score') AS DOUBLE) AS score,
    CASE WHEN document IS NOT NULL THEN ordinal + 1 END AS rank,
    coalesce(len(documents), 1) > 0 AS counted
FROM named
