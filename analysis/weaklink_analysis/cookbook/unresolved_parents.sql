-- Unresolved parents
-- From which memories was something derived that nothing here ever wrote or showed?
SELECT environment, parent_id, count(*) AS children, min(child_id) AS example
FROM derivations
WHERE parent_version IS NULL
GROUP BY environment, parent_id
ORDER BY children DESC, parent_id
LIMIT 50
