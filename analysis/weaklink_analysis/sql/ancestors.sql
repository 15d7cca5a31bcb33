-- Grain: a span of a trace that has a seeker, what it carries, and whether it is a search or runs an agent.
WITH searches AS (
    SELECT DISTINCT o.trace, o.span
    FROM operations AS o
    SEMI JOIN (SELECT trace FROM seekers WHERE kind = 'get') AS g ON o.trace = g.trace
    WHERE o.kind = 'read'
)
SELECT
    s.trace, s.span, s.parent, s.agent_id, s.session_id, r.span IS NOT NULL AS is_search,
    m.span AS run
FROM span_index AS s
SEMI JOIN seekers AS o ON s.trace = o.trace
LEFT JOIN searches AS r ON s.trace = r.trace AND s.span = r.span
LEFT JOIN fresh_runs AS m ON s.trace = m.trace AND s.span = m.span
