-- Instrumentation gaps
-- What do the memory spans of each service leave out? Each column is the share that lacks it.
SELECT
    service_name,
    convention,
    operation,
    count(*) AS operations,
    avg(CAST(memory_id IS NULL AS INTEGER)) AS without_id,
    avg(CAST(declared_confidence IS NULL AS INTEGER)) AS without_confidence,
    avg(CAST(agent_id IS NULL AS INTEGER)) AS without_agent,
    avg(CAST(session_id IS NULL AS INTEGER)) AS without_session,
    avg(CAST(agent_run_span_id IS NULL AS INTEGER)) AS without_run
FROM memory_operations
WHERE operation IN ('read', 'write') AND start_time BETWEEN now() - INTERVAL 7 DAY AND now()
GROUP BY ALL
ORDER BY service_name, operation
