{%- from 'structural_checks.jinja' import structural_checks with context -%}
-- Grain: a due trace: its structural evaluation as it is now. Null scores: the trace has no operations (any more).
WITH judged AS (
    SELECT
        m.trace,
        CASE WHEN m.operations > 0 THEN [
            {%- for name, weight in rubric.weights.items() %}
            {
                'name': '{{ name }}',
                'passed': {{ structural_checks[name].passes }},
                'weight': CAST({{ weight }} AS DOUBLE),
                'detail': {{ structural_checks[name].detail }}
            }{{ '' if loop.last else ',' }}
            {%- endfor %}
        ] END AS checks
    FROM trace_measures AS m
),
sorted AS (
    SELECT
        trace,
        checks,
        list_filter(checks, lambda c: c.passed) AS passes,
        list_filter(checks, lambda c: NOT c.passed) AS failures
    FROM judged
),
scored AS (
    SELECT
        *,
        round(coalesce(list_sum([c.weight FOR c IN passes]), 0) / list_sum([c.weight FOR c IN checks]), 4) AS score
    FROM sorted
),
-- The target span: the trace's root, if it was seen, else its earliest span.
targets AS (
    SELECT s.trace, min_by((s.span, s.service_name, s.environment), (s.parent <> 0, s.start_ns, s.span)) AS target
    FROM span_index AS s
    SEMI JOIN due AS d ON s.trace = d.trace
    GROUP BY s.trace
)
SELECT
    {{ rubric.evaluation | literal }} AS name,
    'trace' AS scope,
    m.trace,
    t.target[1] AS span,
    coalesce(m.session_id, '') AS session_id,
    t.target[3] AS environment,
    t.target[2] AS service_name,
    s.score,
    CAST(NULL AS DOUBLE) AS score_effective,
    settings.pass_threshold AS threshold,
    s.score >= settings.pass_threshold AS passed,
    CASE
        WHEN s.checks IS NULL THEN 'not_evaluable'
        WHEN s.score >= settings.pass_threshold THEN 'pass'
        ELSE 'fail'
    END AS label,
    CASE
        WHEN s.checks IS NULL THEN 'The trace has no memory operations any more.'
        ELSE concat_ws(
            '. ',
            CASE WHEN len(s.passes) > 0 THEN format(
                'Passed ({}/{}): {}', len(s.passes), len(s.checks), array_to_string([c.name FOR c IN s.passes], ', ')
            ) END,
            CASE WHEN len(s.failures) > 0 THEN format(
                'Failed ({}/{}): {}', len(s.failures), len(s.checks),
                array_to_string([c.name || ' — ' || c.detail FOR c IN s.failures], '; ')
            ) END
        )
    END AS explanation,
    {{ rubric.name | literal }} AS rubric,
    'CODE' AS annotator_kind,
    m.spans AS span_count,
    coalesce(m.record_ids, []) AS record_ids,
    s.checks
FROM trace_measures AS m
INNER JOIN targets AS t ON m.trace = t.trace
INNER JOIN scored AS s ON m.trace = s.trace
CROSS JOIN settings
