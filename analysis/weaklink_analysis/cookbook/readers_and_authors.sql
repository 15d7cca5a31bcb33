-- Who relies on whom
-- On whose memories did each agent decide? A matrix of readers and authors.
WITH relied AS (
    SELECT agent_id AS reader, unnest(relied_on, recursive := true)
    FROM decisions
    WHERE start_time BETWEEN now() - INTERVAL 7 DAY AND now()
)
SELECT v.environment, r.reader, v.agent_id AS author, count(*) AS relied_on
FROM relied AS r
JOIN memory_versions AS v USING (environment, store, memory_id, version)
GROUP BY ALL
ORDER BY relied_on DESC, r.reader, author
LIMIT 200
