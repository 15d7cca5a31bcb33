-- Grain: a version (start) that is explained, and one at or above it, met on the way to what bounds it.
SELECT
    w.start, w.version_key, w.via, w.hop, w.ends, coalesce(v.memory_id, w.memory_id) AS memory_id, v.version, v.agent_id,
    v.declared_confidence, v.effective_confidence
FROM gate_ways AS w
LEFT JOIN lake.memory_versions AS v ON w.version_key = v.version_key
ORDER BY w.start, w.hop, coalesce(v.memory_id, w.memory_id), v.version
