-- Grain: a service and an environment that have evaluations of traces or decisions.
WITH uses AS (
    SELECT trace_id, min(start_time) AS began
    FROM (SELECT trace_id, start_time FROM memory_operations UNION ALL SELECT trace_id, start_time FROM decisions)
    GROUP BY trace_id
)
SELECT
    e.service_name, e.environment, count(DISTINCT e.trace_id) FILTER (e.scope = 'trace'), count(*) FILTER (e.scope = 'decision'),
    min(u.began), max(u.began)
FROM evaluations AS e
LEFT JOIN uses AS u ON e.trace_id = u.trace_id
WHERE e.scope <> 'session'
GROUP BY e.service_name, e.environment
ORDER BY e.service_name, e.environment
