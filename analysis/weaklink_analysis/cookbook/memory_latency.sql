-- How long memory operations take
-- Which store is slow?
SELECT
    service_name,
    operation,
    count(*) AS operations,
    quantile_cont(milliseconds, 0.5) AS p50_ms,
    quantile_cont(milliseconds, 0.95) AS p95_ms,
    max(milliseconds) AS max_ms
FROM (
    SELECT service_name, operation, (epoch_us(end_time) - epoch_us(start_time)) / 1000 AS milliseconds
    FROM memory_operations
    WHERE ordinal = 0 AND start_time BETWEEN now() - INTERVAL 7 DAY AND now()
)
GROUP BY ALL
ORDER BY p95_ms DESC
