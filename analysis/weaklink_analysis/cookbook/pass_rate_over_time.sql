-- Traces that pass, over time
-- Which share of the traces is instrumented well enough to pass the structural evaluation, day by day?
SELECT
    time_bucket(INTERVAL '24 hours', evaluated_at) AS time,
    service_name,
    avg(CAST(passed AS INTEGER)) AS pass_rate
FROM evaluations
WHERE
    scope = 'trace'
    AND rubric = 'mai-structural/1'
    AND evaluated_at BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY time, service_name
