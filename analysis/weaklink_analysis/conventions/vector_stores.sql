-- Vector stores under OpenLLMetry: client spans of a store, and what a query found as events db.query.result.
-- Grain: a row a result; one row for a span without.
WITH operations AS (
    SELECT
        row_id,
        lower(coalesce("db.operation", "db.operation.name", split_part(name, '.', -1))) AS operation
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
results AS (
    SELECT *, row_number() OVER (PARTITION BY row_id ORDER BY place) - 1 AS ordinal FROM events
)
SELECT
    k.row_id,
    coalesce(r.ordinal, 0) AS ordinal,
    CASE WHEN r.row_id IS NOT NULL THEN 'read' ELSE k.kind END AS kind,
    r."db.query.result.id" AS memory_id,
    r."db.query.result.metadata" AS metadata,
    TRY_CAST(r."db.query.result.score" AS DOUBLE) AS score,
    r.ordinal + 1 AS rank
FROM kinds AS k
LEFT JOIN results AS r ON k.row_id = r.row_id
