-- Grain: a version that is one of these keys (hop 0), or that one was derived from, at its fewest hops.
-- The derivations are materialised so that every level probes the same hash table.
WITH RECURSIVE edges AS MATERIALIZED (
    SELECT d.child_key, d.parent_key FROM lake.derivations AS d WHERE d.parent_key IS NOT NULL
),
walk(version_key, hop) USING KEY (version_key) AS (
    SELECT unnest(keys), 0
    UNION
    SELECT e.parent_key, min(w.hop) + 1
    FROM walk AS w
    INNER JOIN edges AS e ON w.version_key = e.child_key
    ANTI JOIN recurring.walk AS r ON e.parent_key = r.version_key
    GROUP BY e.parent_key
)
SELECT w.version_key, w.hop FROM walk AS w
