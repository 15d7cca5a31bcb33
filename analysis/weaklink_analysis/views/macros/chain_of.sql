-- Grain: a version: the memory's newest (hop 0), or one that it was derived from, at its fewest hops.
-- The derivations are materialised so that every level probes the same hash table.
WITH RECURSIVE edges AS MATERIALIZED (
    SELECT d.child_key, d.parent_key FROM lake.derivations AS d WHERE d.parent_key IS NOT NULL
),
walk(version_key, hop) USING KEY (version_key) AS (
    SELECT max_by(own.version_key, own.version), 0
    FROM lake.versions_of(id, environment, store) AS own
    HAVING count(*) > 0
    UNION
    SELECT e.parent_key, min(w.hop) + 1
    FROM walk AS w
    INNER JOIN edges AS e ON w.version_key = e.child_key
    ANTI JOIN recurring.walk AS r ON e.parent_key = r.version_key
    GROUP BY e.parent_key
)
SELECT w.hop, v.memory_id, v.version, v.agent_id, v.declared_confidence, v.written_at
FROM walk AS w
INNER JOIN lake.memory_versions AS v ON w.version_key = v.version_key
ORDER BY w.hop, v.memory_id, v.version, v.store
