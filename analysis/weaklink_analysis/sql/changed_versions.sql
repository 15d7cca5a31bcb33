-- Grain: a version of a touched name that is new or differs from what is stored; a known one keeps its key.
SELECT
    coalesce(v.version_key, nextval('version_keys')) AS version_key,
    v.version_key IS NOT NULL AS known,
    c.*
FROM candidate_versions AS c
LEFT JOIN known_versions AS v ON c.row_id = v.row_id AND c.ordinal = v.ordinal
WHERE
    v.version_key IS NULL
    OR (
        c.version, c.store, c.origin, c.agent_id, c.session_id, c.declared, c.confidence_source, c.confidence_signals,
        c.min_threshold, c.flag_threshold
    ) IS DISTINCT FROM (
        v.version, v.store, v.origin, v.agent_id, v.session_id, v.declared, v.confidence_source, v.confidence_signals,
        v.min_threshold, v.flag_threshold
    )
