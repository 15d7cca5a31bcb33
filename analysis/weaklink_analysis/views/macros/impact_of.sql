-- Grain: something that stands on the memory, at its fewest hops: a version (its own: hop 0), a span that read one, or a
-- decision that relied on one. The derivations are materialised so that every level probes the same hash table.
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
affected AS MATERIALIZED (
    SELECT w.version_key, w.hop, v.environment, v.store, v.memory_id, v.version, v.trace_id, v.written_at
    FROM walk AS w
    INNER JOIN lake.memory_versions AS v ON w.version_key = v.version_key
),
-- Grain: a record that a decision relied on.
records AS (
    SELECT d.trace_id, d.span_id, d.start_time, unnest(d.records) AS record
    FROM lake.decisions AS d
),
standing AS (
    SELECT 'version' AS kind, a.memory_id || '@' || a.version AS id, a.hop, a.trace_id, a.written_at AS "time"
    FROM affected AS a
    UNION ALL
    SELECT 'read', o.span_id, min(a.hop), o.trace_id, any_value(o.end_time)
    FROM affected AS a
    INNER JOIN lake.memory_operations AS o ON a.version_key = o.version_key
    WHERE o.operation = 'read'
    GROUP BY o.trace_id, o.span_id
    UNION ALL
    SELECT 'decision', r.span_id, min(a.hop), r.trace_id, any_value(r.start_time)
    FROM affected AS a
    INNER JOIN records AS r
        ON
            a.environment = r.record.environment
            AND a.store = r.record.store
            AND a.memory_id = r.record.memory_id
            AND a.version = r.record.version
    GROUP BY r.trace_id, r.span_id
)
SELECT s.kind, s.id, s.hop, s.trace_id, s."time"
FROM standing AS s
ORDER BY list_position(['version', 'read', 'decision'], s.kind), s.hop, s."time", s.id, s.trace_id
