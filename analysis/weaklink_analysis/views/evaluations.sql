{%- from 'evaluation_rows.jinja' import evaluation_rows with context -%}
-- Grain: the newest revision of (name, scope, target, rubric, annotator_kind).
{{ evaluation_rows('evaluations') }}
