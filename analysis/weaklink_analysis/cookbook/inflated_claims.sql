-- Agents whose claims are most often inflated
-- Who declares more confidence than the sources bear, how often, and by how much?
SELECT
    environment,
    agent_id,
    count(*) AS derived,
    avg(CAST(declared_confidence > chain_min_confidence AS INTEGER)) AS inflated,
    avg(declared_confidence - effective_confidence) AS overstated
FROM memory_versions
WHERE
    chain_min_confidence IS NOT NULL
    AND confidence_source <> 'assumed'
    AND written_at BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY inflated DESC, derived DESC
LIMIT 20
