-- Grain: a due trace and its target span: the trace's root, if it was seen, else its earliest span.
SELECT trace, unnest(target)
FROM (
    SELECT
        s.trace,
        min_by(
            {
                'span': s.span, 'start_ns': s.start_ns, 'agent_id': s.agent_id, 'session_id': s.session_id,
                'service_name': s.service_name, 'environment': s.environment
            },
            (s.parent <> 0, s.start_ns, s.span)
        ) AS target
    FROM due_spans AS s
    GROUP BY s.trace
)
