-- Untrustworthy memories that are read all the same
-- Which memories below the threshold do agents read most?
SELECT
    environment,
    service_name,
    memory_id,
    count(*) AS reads,
    min(effective_confidence) AS effective_confidence,
    max(start_time) AS last_read
FROM memory_operations
WHERE
    operation = 'read' AND confidence_flag = 'FILTER' AND start_time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY reads DESC, memory_id
LIMIT 20
