-- Cognee: what was asked of its interface (cognee.api.*), and what it did (memory.*, with its name as memory.system).
-- A `remember` that is to last has a memory.store within, and that is counted.
-- Grain: one row a span: Cognee names no record.
SELECT
    row_id,
    CASE
        WHEN name IN ('cognee.api.remember', 'cognee.session.add_qa', 'memory.store') THEN 'write'
        WHEN name = 'memory.delete' THEN 'delete'
        ELSE 'read'
    END AS kind,
    coalesce("cognee.dataset.name", "memory.collection") AS namespace,
    "cognee.session.id" AS record_session,
    kind <> 'delete'
    AND coalesce("cognee.result.count", '') <> '0'
    AND coalesce("cognee.operation.mode", '') <> 'permanent' AS counted
FROM candidates
WHERE starts_with(name, 'cognee.') OR "memory.system" = 'cognee'
