-- Grain: a stored version of a touched name: what of it may change.
SELECT
    v.version_key, v.name_key, v.row_id, v.ordinal, v.trace, v.version, v.store, v.origin, v.agent_id, v.session_id, v.declared,
    v.confidence_source, v.confidence_signals, v.min_threshold, v.flag_threshold
FROM versions AS v
SEMI JOIN touched AS t ON v.name_key = t.name_key
