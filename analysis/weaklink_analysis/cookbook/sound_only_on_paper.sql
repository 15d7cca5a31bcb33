-- Decisions sound on declared, unsound on effective confidence
-- Which decisions look well founded, and stand on a chain with a weak link?
SELECT
    d.start_time AS time,
    d.service_name,
    d.agent_id,
    e.score,
    e.score_effective,
    array_to_string(d.memory_ids, ', ') AS memories,
    d.trace_id
FROM decisions AS d
JOIN evaluations AS e USING (trace_id, span_id)
WHERE
    e.scope = 'decision'
    AND e.score >= e.threshold
    AND e.score_effective < e.threshold
    AND d.start_time BETWEEN now() - INTERVAL 7 DAY AND now()
ORDER BY e.score - e.score_effective DESC, time DESC
LIMIT 50
