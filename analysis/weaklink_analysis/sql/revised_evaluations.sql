{%- from 'words.jinja' import detail, explanation, label with context -%}
-- Grain: an evaluation to be sent, with its checks: evaluation.Evaluation's fields.
WITH evaluated AS (
{% filter indent(4, first=true) %}{% include 'evaluation_history.sql' %}{% endfilter %}
),
named AS (
    SELECT d.trace, d.span, [r.memory_id FOR r IN d.records] AS ids
    FROM decisions AS d
    SEMI JOIN due AS t ON d.trace = t.trace
),
used AS (
    SELECT trace, list_sort(list(DISTINCT memory_id)) AS ids
    FROM due_operations
    WHERE counted AND memory_id IS NOT NULL
    GROUP BY trace
)
SELECT
    e.* EXCLUDE (evaluation_key, checks, ceased),
    {{ label('e') }} AS label,
    {{ explanation('e') }} AS explanation,
    -- Of a session those in the traces just judged.
    coalesce(CASE e.scope WHEN 'decision' THEN n.ids ELSE u.ids END, [])[1:1000] AS record_ids,
    CASE e.scope WHEN 'decision' THEN 'deterministic' ELSE 'structural' END AS framework,
    [
        {'name': c.name, 'passed': c.passed, 'weight': {{ rounded('c.weight') }} + 0, 'detail': {{ detail('c') }}}
        FOR c IN e.checks
    ] AS checks
FROM evaluated AS e
INNER JOIN evaluations AS k ON e.evaluation_key = k.evaluation_key
LEFT JOIN named AS n ON k.trace = n.trace AND k.span = n.span
LEFT JOIN used AS u ON k.trace = u.trace
WHERE e.scope IN $scopes AND (e.score IS NOT NULL OR e.revision > 1)
