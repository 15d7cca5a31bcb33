-- Staging beside production
-- Does what is about to be released attribute its decisions as well as what runs now?
SELECT
    environment,
    service_name,
    count(*) AS decisions,
    avg(score_effective) AS mai,
    avg(CAST(score_effective >= threshold AS INTEGER)) AS pass_rate
FROM evaluations
WHERE scope = 'decision' AND score IS NOT NULL AND evaluated_at BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY service_name, environment
