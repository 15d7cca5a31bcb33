{%- from 'words.jinja' import explanation, label with context -%}
-- Grain: the newest revision of (name, scope, target, rubric, annotator_kind).
SELECT
    e.name, e.scope, e.trace_id, e.span_id, e.session_id, e.environment, e.service_name, e.score, e.score_effective,
    e.threshold, e.passed, {{ label('e') }} AS label, {{ explanation('e') }} AS explanation, e.rubric, e.revision,
    e.annotator_kind, e.evaluated_at, e.span_count
FROM lake.evaluations AS e
