-- Contamination leaderboard
-- Which memory drags most decisions down? Each is the weakest link under what these decisions relied on.
WITH relied AS (
    SELECT span_id, unnest(relied_on, recursive := true)
    FROM decisions
    WHERE min_effective_confidence < 0.4 AND start_time BETWEEN now() - INTERVAL 7 DAY AND now()
)
SELECT
    v.environment,
    v.store,
    v.weakest_id,
    min(v.effective_confidence) AS confidence,
    count(DISTINCT r.span_id) AS decisions,
    count(DISTINCT v.memory_id) AS memories
FROM relied AS r
JOIN memory_versions AS v USING (environment, store, memory_id, version)
WHERE v.effective_confidence < 0.4
GROUP BY ALL
ORDER BY decisions DESC, v.weakest_id
LIMIT 20
