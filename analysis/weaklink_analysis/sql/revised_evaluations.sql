-- Grain: an evaluation that got a new revision, with its checks: evaluation.Evaluation's fields.
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
    e.record_ids,
    'structural' AS framework,
    e.checks
FROM evaluations AS e
SEMI JOIN (FROM changed_evaluations WHERE revised) AS d
    ON e.trace = d.trace AND e.name = d.name AND e.rubric = d.rubric
