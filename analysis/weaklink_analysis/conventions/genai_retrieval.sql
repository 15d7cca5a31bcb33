-- OpenTelemetry GenAI retrieval spans (development status), with weaklink's provenance keys in each document's
-- `metadata`, else in the document itself.
-- Grain: a row a document that the span names; one row for a span that names none.
WITH asked AS (
    SELECT
        *,
        CASE
            WHEN
                json_valid("gen_ai.retrieval.documents")
                AND json_type("gen_ai.retrieval.documents") = 'ARRAY'
                THEN CAST(json("gen_ai.retrieval.documents") AS JSON[])
        END AS listed
    FROM candidates
),
-- A list of what is no document names none, but does not say that none was found. Many SDKs have lists of texts alone:
-- a text that is a document in JSON is that document.
documented AS (
    SELECT
        *,
        list_filter(
            [TRY_CAST(json_extract_string(each, '$') AS JSON) FOR each IN listed],
            lambda document: json_type(document) = 'OBJECT'
        ) AS documents
    FROM asked
),
named AS (
    SELECT
        *,
        unnest(CASE WHEN len(documents) > 0 THEN documents ELSE [CAST(NULL AS JSON)] END) AS document,
        unnest(range(greatest(coalesce(len(documents), 0), 1))) AS ordinal
    FROM documented
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
    coalesce(len(listed), 1) > 0 AS counted
FROM named
