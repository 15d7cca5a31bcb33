-- Grain: a decision in a due trace: a row of `decisions`.
SELECT
    trace, span, start_ns, environment, service_name, agent_id, session_id, kind, lowest AS min_effective_confidence, memory,
    [
        {'memory_id': r.memory_id, 'store': r.store, 'environment': r.environment, 'version': r.version} FOR r IN records
    ] AS records,
    unread,
    memory_key,
    [r.version_key FOR r IN records] AS record_keys
FROM judged_decisions
