{%- from 'evaluation_rows.jinja' import evaluation_rows with context -%}
-- Grain: a revision of an evaluation.
{{ evaluation_rows('evaluation_history') }}
