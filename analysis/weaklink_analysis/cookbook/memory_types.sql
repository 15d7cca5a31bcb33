-- Memory types and how far they can be relied on
-- Is one type of memory weaker than the others, or does it turn out wrong more often?
WITH written AS (
    SELECT
        memory_type,
        count(*) AS versions,
        avg(effective_confidence) AS effective,
        avg(CAST(confidence_flag = 'FILTER' AS INTEGER)) AS filtered
    FROM memory_versions
    WHERE written_at BETWEEN now() - INTERVAL 30 DAY AND now()
    GROUP BY memory_type
),
outcomes AS (
    SELECT v.memory_type, count(*) AS outcomes, avg(CAST(o.success AS INTEGER)) AS success_rate
    FROM memory_operations AS o
    JOIN memory_versions AS v
        ON o.environment = v.environment
        AND o.resolved_store = v.store
        AND o.memory_id = v.memory_id
        AND o.resolved_version = v.version
    WHERE o.operation = 'outcome' AND o.start_time BETWEEN now() - INTERVAL 30 DAY AND now()
    GROUP BY v.memory_type
)
SELECT memory_type, versions, effective, filtered, coalesce(outcomes, 0) AS outcomes, success_rate
FROM written
LEFT JOIN outcomes USING (memory_type)
ORDER BY effective
