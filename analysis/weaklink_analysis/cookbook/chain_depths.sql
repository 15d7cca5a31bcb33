-- How deep chains are
-- How many derivations do memories stand on, and what is left of their confidence at each depth?
SELECT
    chain_depth,
    count(*) AS versions,
    avg(declared_confidence) AS declared,
    avg(effective_confidence) AS effective,
    count(*) FILTER (WHERE chain_truncated) AS truncated
FROM memory_versions
WHERE written_at BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY chain_depth
ORDER BY chain_depth
