{%- from 'finding_codes.jinja' import codes_of with context -%}
-- Grain: a version of a memory. The lake's rows for the view of this name.
SELECT *, {{ codes_of('versions') }}
FROM (
    SELECT
        v.version_key,
        v.ordinal AS span_ordinal,
        v.environment,
        v.store,
        v.memory_id,
        v.version,
        {{ time('v.time_ns') }} AS written_at,
        replace(CAST(v.trace AS VARCHAR), '-', '') AS trace_id,
        lower(lpad(hex(v.span), 16, '0')) AS span_id,
        v.service_name,
        v.origin,
        v.agent_id,
        v.session_id,
        v.memory_type,
        v.namespace,
        v.declared AS declared_confidence,
        v.confidence_source,
        v.confidence_signals,
        v.hedged,
        v.parent_ids,
        -- A version is never its own ancestor.
        CASE WHEN c.loops THEN c.others ELSE {{ above('c') }} END AS chain_min_confidence,
        {{ effective('v', 'c') }} AS effective_confidence,
        {{ flag(effective('v', 'c'), 'v') }} AS confidence_flag,
        c.chain_depth,
        c.chain_depth > {{ max_hops }} AS chain_truncated,
        CASE WHEN {{ above('c') }} < v.declared THEN weakest.memory_id ELSE v.memory_id END AS weakest_id,
        c.unresolved_parents,
        c.gap = {{ max_hops }} AS chain_complete
    FROM versions AS v
{%- if changed %}
    SEMI JOIN {{ changed }} AS d ON v.version_key = d.version_key
{%- endif %}
    INNER JOIN chains AS c ON v.version_key = c.version_key
    LEFT JOIN (
    {%- for table, key in weakest_in %}
        SELECT {{ key }} AS key, memory_id
        FROM {{ table }}
    {%- if changed %}
        WHERE {{ key }} IN (
            SELECT c.at_{{ max_hops }} FROM chains AS c SEMI JOIN {{ changed }} AS d ON c.version_key = d.version_key
        )
    {%- endif %}
        {{- '' if loop.last else ' UNION ALL' }}
    {%- endfor %}
    ) AS weakest ON c.at_{{ max_hops }} = weakest.key
)
