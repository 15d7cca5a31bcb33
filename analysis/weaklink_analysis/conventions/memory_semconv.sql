-- memory-semconv v0.1, as MemPalace, memU and MemOS have it.
-- Grain: one row a span: it names no record.
SELECT
    row_id,
    CASE
        WHEN name IN ('memory.read', 'memory.search') THEN 'read'
        WHEN name IN ('memory.invalidate', 'memory.delete') THEN 'delete'
        ELSE 'write'
    END AS kind,
    coalesce("memory.collection", "memory.cube.id") AS namespace,
    "memory.session.id" AS record_session,
    kind <> 'delete' AND coalesce("memory.result.count", "memory.results.count", '') <> '0' AS counted
FROM candidates
WHERE coalesce("memory.system", "memory.operation") IS NOT NULL
