-- Vector stores under OpenLLMetry: client spans of a store, and what was found as events db.query.result
-- (Milvus's search: db.search.result; in JavaScript: attributes with a number). Pinecone and Milvus print metadata as
-- Python does: texts with quotes in them stay unread.
-- Grain: a row a result; one row for a span without.
WITH operations AS (
    SELECT
        row_id,
        lower(coalesce("db.operation", "db.operation.name", split_part(name, '.', -1))) AS operation,
        coalesce("db.milvus.search.result_count", "db.vector.query.result.matches_length", '') = '0' AS found_none
    FROM candidates
),
kinds AS (
    SELECT
        *,
        CASE
            WHEN operation IN ('add', 'insert', 'upsert', 'update', 'upload', 'upload_points', 'upload_records') THEN 'write'
            WHEN operation IN ('delete', 'delete_by_id', 'delete_vectors', 'delete_many') THEN 'delete'
            WHEN
                operation IN (
                    'query', 'search', 'get', 'peek', 'fetch', 'retrieve', 'query_points', 'query_batch', 'search_batch',
                    'hybrid_search', 'recommend', 'scroll'
                )
                THEN 'read'
            ELSE 'other'
        END AS kind
    FROM operations
),
told AS (
    SELECT
        row_id,
        place,
        coalesce("db.query.result.id", "db.search.result.id", id) AS memory_id,
        "db.query.result.score" AS score,
        coalesce("db.query.result.metadata", "db.search.result.entity") AS metadata
    FROM events
    UNION ALL
    SELECT
        row_id,
        number AS place,
        any_value(value) FILTER (WHERE field = 'id') AS memory_id,
        any_value(value) FILTER (WHERE field = 'score') AS score,
        any_value(value) FILTER (WHERE field = 'metadata') AS metadata
    FROM indexed
    GROUP BY row_id, number
),
results AS (
    SELECT *, row_number() OVER (PARTITION BY row_id ORDER BY place) - 1 AS ordinal FROM told
)
SELECT
    k.row_id,
    coalesce(r.ordinal, 0) AS ordinal,
    CASE WHEN r.row_id IS NOT NULL THEN 'read' ELSE k.kind END AS kind,
    r.memory_id,
    CASE
        WHEN json_valid(r.metadata) OR regexp_matches(r.metadata, '["\\]') THEN r.metadata
        ELSE replace(replace(replace(replace(r.metadata, '''', '"'), 'None', 'null'), 'True', 'true'), 'False', 'false')
    END AS metadata,
    TRY_CAST(r.score AS DOUBLE) AS score,
    r.ordinal + 1 AS rank,
    r.row_id IS NOT NULL OR (k.kind IN ('read', 'write') AND NOT k.found_none) AS counted
FROM kinds AS k
LEFT JOIN results AS r ON k.row_id = r.row_id
