-- Grain: an operation on a touched name: what the models after this one need of it.
SELECT
    o.row_id, o.ordinal, o.name_key, o.trace, o.span, o.parent, o.time_ns, o.kind, o.operation, o.store, o.record_agent,
    o.agent_id, o.record_session, o.session_id, o.confidence, o.failed, o.version_key, o.min_threshold, o.flag_threshold
FROM operations AS o
SEMI JOIN touched AS t ON o.name_key = t.name_key
