-- Cognee: what was asked of its interface (cognee.api.*), and what it did (memory.*, with its name as memory.system).
-- Grain: one row a span: Cognee names no record.
SELECT
    row_id,
    CASE split_part(name, '.', -1)
        WHEN 'remember' THEN 'write'
        WHEN 'store' THEN 'write'
        WHEN 'delete' THEN 'delete'
        ELSE 'read'
    END AS kind,
    coalesce("cognee.dataset.name", "memory.collection") AS namespace,
    "cognee.session.id" AS record_session,
    kind <> 'delete' AND coalesce("cognee.result.count", '') <> '0' AS counted
FROM candidates
WHERE starts_with(name, 'cognee.api.') OR "memory.system" = 'cognee'
