-- Grain: all traces that are selected and wait for their quiet period: they have never been judged.
SELECT count(*)
FROM (
    SELECT o.trace_id
    FROM lake.memory_operations AS o
    ANTI JOIN (SELECT trace_id FROM evaluations WHERE scope = 'trace') AS e ON o.trace_id = e.trace_id
    WHERE
        o.counted
        AND ($service IS NULL OR o.service_name = $service)
        AND ($environment IS NULL OR o.environment = $environment)
        AND ($session IS NULL OR o.session_id = $session)
        AND (len($trace_ids::VARCHAR[]) = 0 OR o.trace_id IN (SELECT unnest($trace_ids::VARCHAR[])))
    GROUP BY o.trace_id
    HAVING
        ($since IS NULL OR min(o.start_time) >= CAST($since AS TIMESTAMPTZ))
        AND ($until IS NULL OR min(o.start_time) < CAST($until AS TIMESTAMPTZ))
)
