-- Stale reads
-- Which old memories do agents still go by?
SELECT
    environment,
    service_name,
    memory_id,
    any_value(memory_type) AS memory_type,
    count(*) AS reads,
    max(age_days) AS age_days,
    min(freshness) AS freshness
FROM memory_operations
WHERE operation = 'read' AND age_days > 7 AND start_time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY environment, service_name, memory_id
ORDER BY freshness, reads DESC
LIMIT 20
