-- Grain: an operation of a due trace, and the span of the agent run that it belongs to; outside of any, the target span.
SELECT
    o.trace, o.span, o.row_id, o.ordinal, o.time_ns, o.kind, o.operation, o.environment, o.service_name, o.store,
    o.name_key, o.memory_id, o.session_id, o.own_agent IS NOT NULL AS has_agent, o.confidence, o.hedged, o.counted,
    o.version_key, coalesce(o.run, t.span) AS run, len(o.parent_ids) > 0 AS derived, coalesce(c.chain_depth, 0) AS depth
    {%- if counts_spans %},
    o.verb, o.raw_confidence, o.record_agent, len(o.parent_ids) AS parents
    {%- endif %}
FROM operations AS o
INNER JOIN targets AS t ON o.trace = t.trace
LEFT JOIN chains AS c ON o.version_key = c.version_key
