-- Grain: something that stands on the memory, at its fewest hops: a version (its own: hop 0), or a span that read one.
-- The derivations are materialised so that every level probes the same hash table.
WITH RECURSIVE edges AS MATERIALIZED (
    SELECT d.child_key, d.parent_key FROM lake.derivations AS d WHERE d.parent_key IS NOT NULL
),
walk(version_key, hop) USING KEY (version_key) AS (
    SELECT own.version_key, 0
    FROM lake.versions_of(id, environment, store) AS own
    UNION
    SELECT e.child_key, min(w.hop) + 1
    FROM walk AS w
    INNER JOIN edges AS e ON w.version_key = e.parent_key
    ANTI JOIN recurring.walk AS r ON e.child_key = r.version_key
    GROUP BY e.child_key
),
-- Whatever else may stand on a version joins here.
reached AS (
    SELECT 'version' AS kind, v.memory_id || '@' || v.version AS id, w.hop, v.trace_id, v.written_at AS "time"
    FROM walk AS w
    INNER JOIN lake.memory_versions AS v ON w.version_key = v.version_key
    UNION ALL
    SELECT 'read', o.span_id, min(w.hop), o.trace_id, any_value(o.end_time)
    FROM walk AS w
    INNER JOIN lake.memory_operations AS o ON w.version_key = o.version_key
    WHERE o.operation = 'read'
    GROUP BY o.trace_id, o.span_id
)
SELECT r.kind, r.id, r.hop, r.trace_id, r."time"
FROM reached AS r
ORDER BY r.kind DESC, r.hop, r."time", r.id, r.trace_id
