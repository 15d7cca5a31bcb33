-- Grain: a version: the memory's newest (hop 0), or one that it was derived from, at its fewest hops.
WITH own AS (
    SELECT [max_by(version_key, version)] AS newest FROM lake.versions_of(id, environment, store) HAVING count(*) > 0
),
reached AS MATERIALIZED (
    FROM lake.ancestors_of((SELECT own.newest FROM own))
)
SELECT w.hop, v.memory_id, v.version, v.agent_id, v.declared_confidence, v.written_at
FROM lake.memory_versions AS v
INNER JOIN reached AS w ON v.version_key = w.version_key
WHERE v.version_key IN (SELECT version_key FROM reached)
ORDER BY w.hop, v.memory_id, v.version, v.store
