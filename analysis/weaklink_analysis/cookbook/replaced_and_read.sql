-- Memories read after they were superseded
-- Which reads showed a version that a newer write had replaced already, as a cache does?
SELECT
    f.time,
    f.service_name,
    f.memory_id,
    v.version AS shown_version,
    CAST(f.detail ->> 'version' AS INTEGER) AS newest_version,
    v.declared_confidence AS shown,
    CAST(f.detail ->> 'declared' AS DOUBLE) AS newest,
    f.trace_id
FROM findings AS f
JOIN memory_versions AS v USING (environment, memory_id)
WHERE
    f.code = 'confidence_mismatch'
    AND v.version < CAST(f.detail ->> 'version' AS INTEGER)
    AND v.declared_confidence = CAST(f.detail ->> 'shown' AS DOUBLE)
    AND f.time BETWEEN now() - INTERVAL 7 DAY AND now()
ORDER BY f.time DESC
LIMIT 50
