-- Allow, flag, filter
-- What would a gate on effective confidence have done with the memories that were read?
SELECT
    time_bucket(INTERVAL '24 hours', start_time) AS time,
    count(*) FILTER (WHERE confidence_flag = 'PASS') AS allow,
    count(*) FILTER (WHERE confidence_flag = 'FLAG') AS flag,
    count(*) FILTER (WHERE confidence_flag = 'FILTER') AS filter
FROM memory_operations
WHERE operation = 'read' AND start_time BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY time
