-- Worst traces today
-- Which traces of the last day should one open first, and why did they fail?
SELECT evaluated_at AS time, service_name, environment, score, span_count, explanation, trace_id
FROM evaluations
WHERE
    scope = 'trace'
    AND rubric = 'mai-structural/1'
    AND NOT passed
    AND evaluated_at BETWEEN now() - INTERVAL 1 DAY AND now()
ORDER BY score, span_count DESC, time DESC
LIMIT 20
