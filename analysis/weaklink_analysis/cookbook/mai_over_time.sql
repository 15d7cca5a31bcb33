-- MAI over time by service
-- Is attribution getting better or worse, and what is left of it once each confidence is bounded by its weakest ancestor?
SELECT
    time_bucket(INTERVAL '24 hours', evaluated_at) AS time,
    service_name,
    avg(score) AS declared,
    avg(score_effective) AS effective
FROM evaluations
WHERE scope = 'decision' AND evaluated_at BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY time, service_name
