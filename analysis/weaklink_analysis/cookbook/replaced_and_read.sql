-- Memories read after they were superseded
-- Which reads showed a version that a newer write had replaced already, as a cache does?
SELECT
    r.start_time AS time,
    r.service_name,
    r.memory_id,
    max(s.version) AS shown_version,
    r.resolved_version AS newest_version,
    r.declared_confidence AS shown,
    any_value(n.declared_confidence) AS newest,
    r.trace_id
FROM memory_operations AS r
JOIN memory_versions AS n
    ON r.environment = n.environment
    AND r.resolved_store = n.store
    AND r.memory_id = n.memory_id
    AND r.resolved_version = n.version
JOIN memory_versions AS s
    ON r.environment = s.environment
    AND r.resolved_store = s.store
    AND r.memory_id = s.memory_id
    AND s.version < n.version
    AND s.declared_confidence = r.declared_confidence
WHERE
    r.operation = 'read'
    AND r.resolved_version > 1
    AND r.declared_confidence <> n.declared_confidence
    AND r.start_time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY time DESC
LIMIT 50
