-- Feedback
-- How often did what was remembered turn out right, by service and by what confidence promised?
SELECT
    service_name,
    confidence_flag,
    count(*) FILTER (WHERE success) AS successes,
    count(*) FILTER (WHERE NOT success) AS failures,
    avg(CAST(success AS INTEGER)) AS success_rate
FROM memory_operations
WHERE operation = 'outcome' AND success IS NOT NULL AND start_time BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY service_name, confidence_flag
