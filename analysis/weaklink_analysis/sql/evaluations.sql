-- Grain: an evaluation's newest state. The lake's rows for the view of this name, and for a history row.
SELECT
    e.name,
    e.scope,
    replace(CAST(e.trace AS VARCHAR), '-', '') AS trace_id,
    lower(lpad(hex(e.span), 16, '0')) AS span_id,
    e.session_id,
    e.environment,
    e.service_name,
    e.score,
    e.score_effective,
    e.threshold,
    e.passed,
    e.label,
    e.explanation,
    e.rubric,
    e.revision,
    e.annotator_kind,
    e.evaluated_at,
    e.span_count,
    e.checks
FROM evaluations AS e
{%- if changed %}
SEMI JOIN {{ changed }} AS d ON e.trace = d.trace AND e.name = d.name AND e.rubric = d.rubric
{%- endif %}
