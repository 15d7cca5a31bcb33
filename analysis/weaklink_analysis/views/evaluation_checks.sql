{%- from "words.jinja" import detail with context -%}
{%- from "macros.jinja" import rounded -%}
-- Grain: a check of an evaluation's newest revision.
SELECT
    e.name, e.scope, e.trace_id, e.span_id, e.session_id, e.rubric, e.revision, e.annotator_kind, c.name AS check_name, c.passed,
    -- Plus 0, for a zero without a sign.
    {{ rounded('c.weight') }} + 0 AS weight,
    {{ detail('c') }} AS detail,
    e.environment, e.service_name, e.evaluated_at
FROM (SELECT *, unnest(checks) AS c FROM lake.evaluations) AS e
