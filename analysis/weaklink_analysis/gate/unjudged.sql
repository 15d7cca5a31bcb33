-- Grain: all that is selected and waits for its quiet period, so that no trace of it has ever been judged.
SELECT count(DISTINCT o.trace_id)
FROM lake.memory_operations AS o
ANTI JOIN (SELECT trace_id FROM evaluations WHERE scope = 'trace') AS e ON o.trace_id = e.trace_id
WHERE
    o.counted
    AND ($service IS NULL OR o.service_name = $service)
    AND ($environment IS NULL OR o.environment = $environment)
    AND ($session IS NULL OR o.session_id = $session)
    AND (len($trace_ids::VARCHAR[]) = 0 OR o.trace_id IN (SELECT unnest($trace_ids::VARCHAR[])))
    AND ($since IS NULL OR o.happened_at >= CAST($since AS TIMESTAMPTZ))
    AND ($until IS NULL OR o.happened_at < CAST($until AS TIMESTAMPTZ))
