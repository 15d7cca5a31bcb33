-- Checks that fail, by service
-- What would mend the most traces?
SELECT service_name, check_name, count(*) AS traces
FROM evaluation_checks
WHERE
    scope = 'trace'
    AND rubric = 'mai-structural/1'
    AND NOT passed
    AND evaluated_at BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY traces DESC
