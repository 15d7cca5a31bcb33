-- Who relies on whom
-- On whose memories did each agent decide? A matrix of readers and authors.
WITH relied AS (
    SELECT environment, agent_id, unnest(memory_ids) AS memory_id
    FROM decisions
    WHERE start_time BETWEEN now() - INTERVAL 7 DAY AND now()
)
SELECT r.environment, r.agent_id AS reader, v.agent_id AS author, count(*) AS relied_on
FROM relied AS r
JOIN memory_versions AS v USING (environment, memory_id)
WHERE v.version = 1
GROUP BY ALL
ORDER BY relied_on DESC, reader, author
LIMIT 200
