-- memory-semconv v0.1 (MemPalace, memU, MemOS).
-- Grain: one row a span: it names no record.
SELECT
    row_id,
    CASE name
        WHEN 'memory.read' THEN 'read'
        WHEN 'memory.invalidate' THEN 'delete'
        ELSE 'write'
    END AS kind,
    "memory.collection" AS namespace,
    kind <> 'delete' AND coalesce("memory.result.count", '') <> '0' AS counted
FROM candidates
WHERE coalesce("memory.system", "memory.operation") IS NOT NULL
