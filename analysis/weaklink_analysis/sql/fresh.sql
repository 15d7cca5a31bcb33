-- Grain: a newly stored span: what the models need of every span, memory span or not.
SELECT
    row_id,
    trace,
    span,
    parent,
    name,
    start_ns,
    end_ns,
    status_code,
    service_name,
    environment,
    coalesce(
        nullif(nullif("gen_ai.agent.id", ''), 'unknown'),
        nullif(nullif("gen_ai.agent.name", ''), 'unknown'),
        nullif(nullif("agent.name", ''), 'unknown'),
        nullif(nullif("memory.agent.id", ''), 'unknown'),
        nullif(nullif("memledger.memory.source_agent_id", ''), 'unknown')
    ) AS agent_id,
    coalesce(
        nullif(nullif("session.id", ''), 'unknown'),
        nullif(nullif("memledger.memory.session_id", ''), 'unknown'),
        nullif(nullif("gen_ai.conversation.id", ''), 'unknown')
    ) AS session_id,
    "openinference.span.kind" AS span_kind
FROM incoming
