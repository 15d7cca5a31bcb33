-- Grain: a tier, an environment, a service and who decided: the mean score of what is selected.
SELECT
    CASE t.scope WHEN 'decision' THEN '1' ELSE '3' END, t.environment, t.service_name, coalesce(d.agent_id, ''),
    avg(t.score), count(*)
FROM gate_targets AS t
LEFT JOIN decisions AS d ON t.scope = 'decision' AND t.trace_id = d.trace_id AND t.span_id = d.span_id
WHERE t.score IS NOT NULL
GROUP BY ALL
