-- Grain: a read of a due trace that names a record, the memory that it means, and the version; null: none.
SELECT o.trace, o.run, o.time_ns, o.span, o.ordinal, o.name_key, coalesce(v.store, r.store) AS store, o.version_key
FROM due_operations AS o
LEFT JOIN versions AS v ON o.version_key = v.version_key
LEFT JOIN resolved AS r ON o.row_id = r.a AND r.b = -1 - o.ordinal
WHERE o.operation = 'read' AND o.name_key IS NOT NULL
