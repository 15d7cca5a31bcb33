-- Grain: something that stands on these versions, at its fewest hops: a version (itself: hop 0), a span that read one, or
-- a decision that relied on one. `rows`: those of reached_from. Whoever knows bounds of their keys spares reading most of
-- the tables.
WITH reached AS MATERIALIZED (
    SELECT unnest(rows, recursive := true)
),
affected AS MATERIALIZED (
    SELECT w.version_key, w.hop, v.environment, v.store, v.memory_id, v.version, v.trace_id, v.written_at
    FROM lake.memory_versions AS v
    INNER JOIN reached AS w ON v.version_key = w.version_key
    WHERE v.version_key BETWEEN low AND high AND v.version_key IN (SELECT version_key FROM reached)
),
-- Grain: a record that a decision relied on.
records AS (
    SELECT d.trace_id, d.span_id, d.start_time, unnest(d.record_keys) AS version_key
    FROM lake.decisions AS d
),
standing AS (
    SELECT 'version' AS kind, a.memory_id || '@' || a.version AS id, a.hop, a.trace_id, a.written_at AS "time"
    FROM affected AS a
    UNION ALL
    SELECT 'read', o.span_id, min(a.hop), o.trace_id, any_value(o.happened_at)
    FROM affected AS a
    INNER JOIN lake.memory_operations AS o ON a.version_key = o.version_key
    WHERE
        o.operation = 'read'
        AND o.version_key BETWEEN low AND high
        AND o.version_key IN (SELECT version_key FROM reached)
    GROUP BY o.trace_id, o.span_id
    UNION ALL
    SELECT 'decision', r.span_id, min(a.hop), r.trace_id, any_value(r.start_time)
    FROM affected AS a
    INNER JOIN records AS r ON a.version_key = r.version_key
    WHERE r.version_key BETWEEN low AND high
    GROUP BY r.trace_id, r.span_id
)
SELECT s.kind, s.id, s.hop, s.trace_id, s."time"
FROM standing AS s
ORDER BY list_position(['version', 'read', 'decision'], s.kind), s.hop, s."time", s.id, s.trace_id
