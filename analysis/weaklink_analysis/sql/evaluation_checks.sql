-- Grain: a check of an evaluation's newest state. The lake's rows for the view of this name.
SELECT
    c.name,
    c.scope,
    replace(CAST(e.trace AS VARCHAR), '-', '') AS trace_id,
    lower(lpad(hex(e.span), 16, '0')) AS span_id,
    e.session_id,
    e.revision,
    c.check_name,
    c.passed,
    c.weight,
    c.detail,
    c.rubric,
    c.annotator_kind
FROM evaluation_checks AS c
{%- if changed %}
SEMI JOIN {{ changed }} AS d ON c.trace = d.trace AND c.name = d.name AND c.rubric = d.rubric
{%- endif %}
INNER JOIN evaluations AS e ON c.trace = e.trace AND c.name = e.name AND c.rubric = e.rubric
