-- Grain: a service, an environment and a name (with * for digits) of spans that look like memory and were not recognised:
-- the {{ names }} most frequent names of each.
WITH hinted AS (
    SELECT
        trace_id, span_id, parent_span_id, start_time, service_name, environment,
        regexp_replace(name, '[0-9a-fA-F]{8}[0-9a-fA-F-]*|[0-9]+', '*', 'g') AS name,
        list_filter(
            map_keys(attributes),
            lambda key: regexp_matches(key, '{{ words }}', 'i') AND NOT regexp_matches(key, '^({{ other_keys | join("|") }})')
        ) AS keys,
        regexp_matches(
            concat_ws(' ', name, span_kind, attributes['gen_ai.operation.name'], attributes['gen_ai.tool.name']),
            '{{ words }}', 'i'
        )
        -- Agents and models may be named after memory, and use it by other spans.
        AND coalesce(span_kind, '') NOT IN ('AGENT', 'LLM', 'EMBEDDING')
        AND coalesce(attributes['gen_ai.operation.name'], '') NOT IN ('invoke_agent', 'plan', 'chat') AS named
    FROM spans
    WHERE {% include 'selected.jinja' %}
),
unrecognised AS (
    SELECT h.*
    FROM hinted AS h
    ANTI JOIN memory_operations AS o ON h.trace_id = o.trace_id AND h.span_id = o.span_id
    -- What a recognised span has beneath it is how its store does it.
    ANTI JOIN memory_operations AS p ON h.trace_id = p.trace_id AND h.parent_span_id = p.span_id
    WHERE h.named OR len(h.keys) > 0
)
SELECT
    service_name, environment, name, count(*) AS spans,
    list_sort(list_distinct(flatten(list(keys))))[:{{ keys }}] AS keys,
    min_by(trace_id, (start_time, trace_id, span_id)) AS trace_id,
    min_by(span_id, (start_time, trace_id, span_id)) AS span_id
FROM unrecognised
GROUP BY service_name, environment, name
QUALIFY row_number() OVER (PARTITION BY service_name, environment ORDER BY spans DESC, name) <= {{ names }}
ORDER BY service_name, environment, spans DESC, name
