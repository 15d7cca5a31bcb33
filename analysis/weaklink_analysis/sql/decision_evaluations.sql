{%- from 'attribution_criteria.jinja' import attribution_criteria with context -%}
-- Grain: a decision in a due trace: its attribution integrity (MAI Tier 1). Null scores: it relied on no memory.
WITH measured AS (
    SELECT
        d.*,
        list_sum([r.declared FOR r IN d.records]) / d.total AS declared_mean,
        list_sum([r.effective FOR r IN d.records]) / d.total AS effective_mean,
        d.memory_effective AS declared_chain,
        least(d.memory_effective, d.lowest) AS effective_chain
    FROM judged_decisions AS d
),
weighed AS (
    SELECT
        d.*,
        {%- for confidence in ('declared', 'effective') %}
        {%- for criterion in attribution_criteria.values() %}
        CAST({{ criterion.points | replace('%s', confidence) }} AS DOUBLE) AS {{ confidence }}_{{ loop.index }},
        {%- endfor %}
        {%- endfor %}
    FROM measured AS d
),
scored AS (
    SELECT
        w.*,
        {%- for confidence in ('declared', 'effective') %}
        CASE WHEN total > 0 THEN greatest(0, least(1, CAST(1 AS DOUBLE)
            {%- for _ in attribution_criteria %} + {{ confidence }}_{{ loop.index }}{% endfor %})) END
            AS {{ confidence }}_score,
        {%- endfor %}
    FROM weighed AS w
)
SELECT
    {{ attribution.evaluation | literal }} AS name,
    {{ attribution.name | literal }} AS rubric,
    'decision' AS scope,
    d.trace AS target,
    d.span AS decision,
    d.trace,
    d.span,
    coalesce(d.session_id, '') AS session_id,
    d.environment,
    d.service_name,
    {{ rounded('d.declared_score') }} AS score,
    {{ rounded('d.effective_score') }} AS score_effective,
    d.declared_score >= settings.pass_threshold AS passed,
    d.total AS span_count,
    CASE WHEN d.total > 0 THEN [
        {%- for name, criterion in attribution_criteria.items() %}
        {
            'name': '{{ name }}', 'passed': d.declared_{{ loop.index }} >= 0, 'weight': d.declared_{{ loop.index }},
            'found': CAST({{ criterion.found }} AS DOUBLE),
            'total': CAST({{ criterion.total | default('NULL') }} AS DOUBLE),
            'bound': CAST({{ criterion.bound | default('NULL') }} AS DOUBLE)
        }{{ '' if loop.last else ',' }}
        {%- endfor %}
    ] END AS checks
FROM scored AS d
CROSS JOIN settings
