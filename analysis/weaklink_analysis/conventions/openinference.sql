-- OpenInference RETRIEVER spans. LangChain's name no ids among the documents' attributes, but in the output.
-- LlamaIndex's `_retrieve` is the inside of a `retrieve` that tells the same, and better.
-- Grain: a row a document; one row for a span without.
WITH documents AS (
    SELECT
        row_id,
        number AS ordinal,
        any_value(value) FILTER (WHERE field = 'document.id') AS id,
        TRY_CAST(any_value(value) FILTER (WHERE field = 'document.score') AS DOUBLE) AS score,
        any_value(value) FILTER (WHERE field = 'document.metadata') AS metadata
    FROM indexed
    GROUP BY row_id, number
)
SELECT
    c.row_id,
    coalesce(d.ordinal, 0) AS ordinal,
    'read' AS kind,
    coalesce(
        d.id,
        CASE
            WHEN json_valid(c."output.value")
                THEN json_extract_string(c."output.value", '$.documents[' || d.ordinal || '].id')
        END
    ) AS memory_id,
    d.metadata,
    d.score,
    d.ordinal + 1 AS rank,
    d.row_id IS NOT NULL
    OR (
        coalesce(c."retrieval.documents", '') <> '[]'
        -- JavaScript writes no spaces.
        AND replace(coalesce(c."output.value", ''), ' ', '') NOT IN ('[]', '{"documents":[]}')
    ) AS counted
FROM candidates AS c
LEFT JOIN documents AS d ON c.row_id = d.row_id
WHERE d.row_id IS NOT NULL OR NOT regexp_matches(c.name, '\._a?retrieve$')
