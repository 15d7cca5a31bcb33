{%- from 'finding_codes.jinja' import codes_of with context -%}
-- Grain: a decision. The lake's rows for the view of this name.
SELECT *, {{ codes_of('decisions') }}
FROM (
    SELECT
        replace(CAST(d.trace AS VARCHAR), '-', '') AS trace_id,
        lower(lpad(hex(d.span), 16, '0')) AS span_id,
        {{ time('d.start_ns') }} AS start_time,
        d.environment,
        d.service_name,
        d.agent_id,
        d.session_id,
        d.kind,
        d.memory.memory_id AS decision_memory_id,
        [r.memory_id FOR r IN d.records] AS memory_ids,
        d.min_effective_confidence,
        d.memory,
        d.records,
        d.unread,
        d.memory_key,
        d.record_keys
{%- if changed %}
    FROM (FROM decisions SEMI JOIN {{ changed }} USING (trace)) AS d
    SEMI JOIN {{ changed }} AS c ON d.trace = c.trace AND d.span = c.span
{%- else %}
    FROM decisions AS d
{%- endif %}
)
