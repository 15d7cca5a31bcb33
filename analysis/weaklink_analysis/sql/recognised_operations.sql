{%- from 'macros.jinja' import confidence, ids, linked_ids -%}
{%- from 'signals.jinja' import fingerprint, on_span, said, told as all_told, word -%}
-- Grain: a record on an incoming span, as the most specific convention recognised it.
-- What a write was derived from its span's links say too.
-- '' and 'unknown' are no agent and no session; '' is no id; a confidence that is not a number in [0, 1] is none.
SELECT
    r.row_id AS at,
    r.ordinal,
    r.kind,
    CASE r.kind WHEN 'get' THEN 'read' WHEN 'conflict' THEN 'other' ELSE r.kind END AS operation,
    coalesce(r.store, '') AS store,
    nullif(r.memory_id, '') AS memory_id,
    coalesce(r.memory_type, r.span_type) AS memory_type,
    r.namespace,
    nullif(nullif(r.record_agent, ''), 'unknown') AS record_agent,
    coalesce(nullif(nullif(r.record_agent, ''), 'unknown'), nullif(nullif(r.own_agent, ''), 'unknown'), r.agent_id)
        AS own_agent,
    nullif(nullif(r.record_session, ''), 'unknown') AS record_session,
    coalesce(nullif(nullif(r.record_session, ''), 'unknown'), r.session_id) AS own_session,
    r.raw_confidence,
    {{ confidence('r.raw_confidence') }} AS confidence,
    coalesce(r.hedged, FALSE) AS hedged,
    {% if linked -%}
    list_concat(
        {{ ids('r.parents_json') }},
        CASE
            WHEN r.kind = 'write'
                THEN list_filter(l.ids, lambda id: NOT list_contains({{ ids('r.parents_json') }}, id))
        END
    ) AS parent_ids,
    {%- else -%}
    {{ ids('r.parents_json') }} AS parent_ids,
    {%- endif %}
    r.score,
    r.rank,
    r.success,
    r.counted,
    r.verb,
    r.status_code = 'ERROR' AS failed,
    r.convention,
    r.raw_min_threshold,
    r.raw_flag_threshold,
    {%- if told %}
    -- Without a source nothing is derived of the rest.
    CASE
        WHEN {{ said('source') }} <> '' AND r.kind = 'write' THEN {
            'sources': list_transform({{ ids(said('source')) }}, lambda source: {{ word('source') }}),
            'observations': CASE
                WHEN regexp_full_match({{ said('observations') }}, '\d{1,9}') THEN CAST({{ said('observations') }} AS BIGINT)
            END,
            'confirmed': coalesce({{ said('confirmed') }} = 'true', FALSE),
            'grounding': {{ said('grounding') }},
            'extractor': nullif({{ said('extractor') }}, ''),
            'logprobs': TRY(CAST(CAST({{ said('logprobs') }} AS JSON) AS DOUBLE[]))
        }
    END AS signals,
    CASE WHEN r.kind = 'write' THEN {{ fingerprint(said('content')) }} END AS content
    {%- else %}
    CAST(NULL AS STRUCT(
        sources VARCHAR[], observations BIGINT, confirmed BOOLEAN, grounding VARCHAR, extractor VARCHAR, logprobs DOUBLE[]
    )) AS signals,
    CAST(NULL AS VARCHAR) AS content
    {%- endif %}
FROM (
    SELECT
        r.*,
        c.status_code,
        c.agent_id,
        c.session_id,
        c.raw_min_threshold,
        c.raw_flag_threshold,
        c.memory_type AS span_type
        {%- if told %},
        {{ all_told('r.about') }} AS told
        {%- for key, attribute in on_span.items() %},
        i.{{ attribute | column }} AS {{ key }}
        {%- endfor %}
        {%- endif %}
    FROM recognised AS r
    INNER JOIN contexts AS c ON r.row_id = c.row_id
    {%- if told %}
    INNER JOIN incoming AS i ON r.row_id = i.row_id
    {%- endif %}
) AS r
{%- if linked %}
LEFT JOIN ({{ linked_ids('derived_from') }}) AS l ON r.row_id = l.row_id
{%- endif %}
