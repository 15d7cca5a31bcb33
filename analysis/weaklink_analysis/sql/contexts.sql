-- Grain: an incoming span: what it carries for itself and its descendants, and whether it runs an agent or decides.
SELECT
    row_id,
    status_code,
    coalesce(
        nullif(nullif("gen_ai.agent.id", ''), 'unknown'),
        nullif(nullif("gen_ai.agent.name", ''), 'unknown'),
        nullif(nullif("agent.name", ''), 'unknown'),
        nullif(nullif("memory.agent.id", ''), 'unknown'),
        nullif(nullif("memledger.memory.source_agent_id", ''), 'unknown')
    ) AS agent_id,
    coalesce(
        nullif(nullif("memledger.memory.session_id", ''), 'unknown'),
        nullif(nullif("session.id", ''), 'unknown'),
        nullif(nullif("gen_ai.conversation.id", ''), 'unknown')
    ) AS session_id,
    "openinference.span.kind" AS span_kind,
    coalesce("gen_ai.operation.name" = 'invoke_agent', FALSE)
        OR coalesce("openinference.span.kind" = 'AGENT', FALSE) AS is_run,
    CASE
        WHEN "memory.decision" = 'true' THEN 'marked'
        WHEN "gen_ai.operation.name" = 'plan' THEN 'plan'
        {%- for matcher in matchers %}
        WHEN
            {%- if matcher.span_name is not none %} name LIKE {{ matcher.span_name | like | literal }} ESCAPE '\'{% else %} TRUE{% endif %}
            {%- for key, value in matcher.attributes.items() %} AND {{ key | column }} = {{ value | literal }}{% endfor %}
            THEN 'matched'
        {%- endfor %}
    END AS decision,
    "memory.relied_on" AS relied_on,
    "gen_ai.memory.store.id" AS store,
    "memory.confidence_policy.min_threshold" AS raw_min_threshold,
    "memory.confidence_policy.flag_threshold" AS raw_flag_threshold,
    "memory.type" AS memory_type,
    -- An embedding's or an agent's own model did not write the memory's text.
    CASE
        WHEN
            "gen_ai.operation.name" IN ('chat', 'generate_content', 'text_completion')
            OR "openinference.span.kind" = 'LLM'
            THEN nullif(coalesce("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"), '')
    END AS model
FROM incoming
