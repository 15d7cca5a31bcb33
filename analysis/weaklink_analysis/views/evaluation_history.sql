{%- from 'words.jinja' import explanation, label with context -%}
-- Grain: a revision of an evaluation.
SELECT
    e.name, e.scope, e.trace_id, e.span_id, e.session_id, e.environment, e.service_name, e.score, e.score_effective,
    e.threshold, e.passed, {{ label('e') }} AS label, {{ explanation('e') }} AS explanation, e.rubric, e.revision,
    e.annotator_kind, e.evaluated_at, e.span_count
FROM lake.evaluation_history AS e
