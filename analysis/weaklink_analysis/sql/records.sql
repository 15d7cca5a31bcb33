-- Grain: a decision and a memory that it relied on, as the memory was: nobody's, and as sure as is assumed, if unknown.
SELECT
    r.trace,
    r.span,
    {
        'memory_id': coalesce(v.memory_id, n.memory_id),
        'store': r.store,
        'environment': coalesce(v.environment, n.environment),
        'version': v.version,
        'declared': coalesce(v.declared, settings.assumed_confidence),
        'effective': coalesce({{ effective('v', 'c') }}, settings.assumed_confidence),
        'version_key': r.version_key
    } AS record,
    v.agent_id AS author,
    v.session_id IS NOT NULL AS has_session,
    coalesce(v.hedged, FALSE) AS hedged
FROM relied AS r
LEFT JOIN versions AS v ON r.version_key = v.version_key
LEFT JOIN chains AS c ON r.version_key = c.version_key
LEFT JOIN names AS n ON r.version_key IS NULL AND r.name_key = n.name_key
CROSS JOIN settings
