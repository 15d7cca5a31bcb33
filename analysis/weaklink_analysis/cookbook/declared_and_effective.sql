-- Declared and effective confidence over time
-- How much of the confidence that is declared is not borne by what it stands on?
SELECT
    time_bucket(INTERVAL '24 hours', written_at) AS time,
    service_name,
    avg(declared_confidence) AS declared,
    avg(effective_confidence) AS effective
FROM memory_versions
WHERE written_at BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY time, service_name
