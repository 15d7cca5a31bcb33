{%- from 'structural_checks.jinja' import structural_checks -%}
-- Grain: a rubric and a due trace, or a session of one: its structural evaluation (MAI Tier 3).
WITH measured AS (
    SELECT
        'trace' AS scope, m.trace AS target, m.trace, t.span, coalesce(m.first_session, '') AS session_id,
        t.environment, t.service_name,
        m.* EXCLUDE (trace, environment, session_id, whole, first_session, earliest)
    FROM measures AS m
    INNER JOIN targets AS t ON m.trace = t.trace
    WHERE m.whole
    UNION ALL BY NAME
    SELECT
        'session' AS scope, earliest.trace AS trace, earliest.span AS span, earliest.service_name AS service_name,
        {{ session_target() }} AS target,
        * EXCLUDE (earliest)
    FROM (
        SELECT
            s.rubric,
            s.environment,
            s.session_id,
            {%- for count in ('operations', 'spans', 'with_confidence', 'judged', 'above', 'with_agent', 'low_unhedged') %}
            CAST(sum(s.{{ count }}) AS BIGINT) AS {{ count }},
            {%- endfor %}
            max(s.deepest) AS deepest,
            {%- if weighed %}
            [
                {%- for _ in weighed %}
                CAST(coalesce(sum(s.findings[{{ loop.index }}]), 0) AS BIGINT){{ '' if loop.last else ',' }}
                {%- endfor %}
            ] AS findings,
            {%- else %}
            CAST(NULL AS BIGINT[]) AS findings,
            {%- endif %}
            min(s.earliest) AS earliest
        FROM session_measures AS s
        SEMI JOIN due_sessions AS d ON s.environment = d.environment AND s.session_id = d.session_id
        GROUP BY s.rubric, s.environment, s.session_id
    )
),
judged AS (
    SELECT
        m.*,
        CASE m.rubric
            {%- for rubric in rubrics %}
            WHEN {{ rubric.name | literal }} THEN {{ structural_checks(rubric, weighed) | indent(12) }}
            {%- endfor %}
        END AS checks,
        CASE m.rubric
            {%- for rubric in rubrics %}
            WHEN {{ rubric.name | literal }} THEN {{ rubric.weights.values() | sum | double }}
            {%- endfor %}
        END AS weights
    FROM measured AS m
),
scored AS (
    SELECT
        *,
        {{ rounded('list_sum([CASE WHEN c.passed THEN c.weight ELSE 0 END FOR c IN checks]) / weights') }} AS score
    FROM judged
)
SELECT
    CASE m.rubric
        {%- for rubric in rubrics %}
        WHEN {{ rubric.name | literal }} THEN {{ rubric.evaluation | literal }}
        {%- endfor %}
    END AS name,
    m.rubric, m.scope, m.target, CAST(0 AS UBIGINT) AS decision, m.trace, m.span, m.session_id, m.environment, m.service_name,
    m.score, CAST(NULL AS DOUBLE) AS score_effective, m.score >= settings.pass_threshold AS passed, m.spans AS span_count,
    m.checks
FROM scored AS m
CROSS JOIN settings
