-- Traffic
-- How many spans and traces does each service send?
SELECT
    time_bucket(INTERVAL '24 hours', start_time) AS time,
    service_name,
    count(*) AS spans,
    count(*) FILTER (WHERE parent_span_id IS NULL) AS traces,
    count(*) FILTER (WHERE status_code = 'ERROR') AS errors
FROM spans
WHERE start_time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY time, service_name
