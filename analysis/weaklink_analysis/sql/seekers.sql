-- Grain: an operation in a trace of this batch whose own span does not say all that its ancestors might.
SELECT
    o.row_id, o.ordinal, o.trace, o.parent, o.kind, o.name_key, o.own_agent, o.own_session,
    o.agent_id, o.session_id, o.operation
FROM operations AS o
SEMI JOIN fresh AS f ON o.trace = f.trace
WHERE o.own_agent IS NULL OR o.own_session IS NULL OR o.kind = 'get'
