-- Sessions that stand on the least
-- In which sessions were decisions made on the weakest memories?
SELECT
    environment,
    session_id,
    count(*) AS decisions,
    min(score_effective) AS lowest,
    avg(score_effective) AS mean,
    max(evaluated_at) AS time
FROM evaluations
WHERE
    scope = 'decision'
    AND session_id <> ''
    AND score IS NOT NULL
    AND evaluated_at BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY environment, session_id
ORDER BY lowest, mean, session_id
LIMIT 20
