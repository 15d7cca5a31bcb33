-- Findings by code over time
-- What goes wrong more often than it did?
SELECT time_bucket(INTERVAL '24 hours', f.time) AS time, code, severity, count(*) AS findings
FROM findings AS f
WHERE f.time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY time, code
