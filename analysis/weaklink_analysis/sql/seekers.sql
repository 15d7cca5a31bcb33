-- Grain: an operation in a trace of this batch whose own span and parent do not say all that its ancestors might.
SELECT
    o.row_id, o.ordinal, o.trace, o.parent, o.kind, o.name_key, o.own_agent, o.own_session, own.span AS own_run,
    r.trace IS NOT NULL AS in_runs, o.agent_id, o.session_id, o.operation, o.run
FROM operations AS o
SEMI JOIN fresh AS f ON o.trace = f.trace
LEFT JOIN (SELECT DISTINCT trace FROM fresh_runs) AS r ON o.trace = r.trace
LEFT JOIN fresh_runs AS own ON o.trace = own.trace AND o.span = own.span
WHERE
    o.own_agent IS NULL
    OR o.own_session IS NULL
    OR o.kind = 'get'
    OR (r.trace IS NOT NULL AND o.run IS DISTINCT FROM o.parent)
    OR o.trace IN (SELECT trace FROM superseded)
