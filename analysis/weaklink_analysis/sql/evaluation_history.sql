-- Grain: an evaluation's newest state. The lake's rows for the views `evaluations` and `evaluation_history`.
SELECT
    e.evaluation_key,
    e.name,
    e.scope,
    replace(CAST(e.trace AS VARCHAR), '-', '') AS trace_id,
    lower(lpad(hex(e.span), 16, '0')) AS span_id,
    e.session_id,
    e.environment,
    e.service_name,
    e.score,
    e.score_effective,
    settings.pass_threshold AS threshold,
    e.passed,
    e.rubric,
    e.revision,
    'CODE' AS annotator_kind,
    e.evaluated_at,
    e.span_count,
    e.checks,
    e.ceased
FROM evaluations AS e
{%- if changed %}
SEMI JOIN {{ changed }} AS d ON e.evaluation_key = d.evaluation_key
{%- endif %}
CROSS JOIN settings
