-- Decisions that cannot be evaluated
-- Which service does not say what its decisions relied on?
SELECT
    service_name,
    environment,
    count(*) AS decisions,
    count(*) FILTER (WHERE score IS NULL) AS not_evaluable,
    avg(CAST(score IS NULL AS INTEGER)) AS share
FROM evaluations
WHERE scope = 'decision' AND evaluated_at BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY share DESC, service_name, environment
