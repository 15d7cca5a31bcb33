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
-- Grain: something, and a version that it stands on. only_key keeps versions apart that share a name; a span that read
-- several is one read. Whatever else may stand on a version joins here.
standing AS (
    SELECT
        'version' AS kind,
        v.memory_id || '@' || v.version AS id,
        v.version_key,
        v.version_key AS only_key,
        v.trace_id,
        v.written_at AS "time"
    FROM lake.memory_versions AS v
    UNION ALL
    SELECT 'read', o.span_id, o.version_key, NULL, o.trace_id, o.end_time
    FROM lake.memory_operations AS o
    WHERE o.operation = 'read'
)
SELECT s.kind, s.id, min(w.hop) AS hop, s.trace_id, any_value(s."time") AS "time"
FROM walk AS w
INNER JOIN standing AS s ON w.version_key = s.version_key
GROUP BY s.kind, s.id, s.only_key, s.trace_id
ORDER BY s.kind DESC, hop, "time", s.id, s.trace_id
