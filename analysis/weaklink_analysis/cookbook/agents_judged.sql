-- Agents by how soundly they decide
-- Which agents decide on weak memories most often?
SELECT
    d.environment,
    d.agent_id,
    count(*) AS decisions,
    avg(e.score) AS declared,
    avg(e.score_effective) AS effective,
    avg(CAST(e.score_effective < e.threshold AS INTEGER)) AS failing
FROM decisions AS d
JOIN evaluations AS e USING (trace_id, span_id)
WHERE e.scope = 'decision' AND e.score IS NOT NULL AND d.start_time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY failing DESC, decisions DESC
LIMIT 20
