-- What changed since yesterday
-- Which service decides more or less soundly than in the day before?
SELECT
    service_name,
    count(*) FILTER (WHERE age < INTERVAL 1 DAY) AS decisions,
    count(*) FILTER (WHERE age >= INTERVAL 1 DAY) AS decisions_before,
    avg(score_effective) FILTER (WHERE age < INTERVAL 1 DAY) AS mai,
    avg(score_effective) FILTER (WHERE age >= INTERVAL 1 DAY) AS mai_before,
    mai - mai_before AS change
FROM (
    SELECT service_name, score_effective, now() - evaluated_at AS age
    FROM evaluations
    WHERE scope = 'decision' AND score IS NOT NULL AND evaluated_at BETWEEN now() - INTERVAL 2 DAY AND now()
)
GROUP BY service_name
ORDER BY change
