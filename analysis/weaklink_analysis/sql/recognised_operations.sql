{%- from 'macros.jinja' import confidence, ids, linked_ids -%}
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
    r.memory_type,
    r.namespace,
    nullif(nullif(r.record_agent, ''), 'unknown') AS record_agent,
    coalesce(nullif(nullif(r.record_agent, ''), 'unknown'), nullif(nullif(r.own_agent, ''), 'unknown'), c.agent_id)
        AS own_agent,
    nullif(nullif(r.record_session, ''), 'unknown') AS record_session,
    coalesce(nullif(nullif(r.record_session, ''), 'unknown'), c.session_id) AS own_session,
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
    c.status_code = 'ERROR' AS failed,
    r.convention,
    c.raw_min_threshold,
    c.raw_flag_threshold
FROM recognised AS r
INNER JOIN contexts AS c ON r.row_id = c.row_id
{%- if linked %}
LEFT JOIN ({{ linked_ids('derived_from') }}) AS l ON r.row_id = l.row_id
{%- endif %}
