{%- from 'words.jinja' import detail, explanation, label with context -%}
-- Grain: an evaluation to be sent: a row of evaluation.EVALUATION_SCHEMA.
WITH evaluated AS (
{% filter indent(4, first=true) %}{% include 'evaluation_history.sql' %}{% endfilter %}
),
-- Once, since planning these words takes longer than finding them.
worded AS (
    SELECT
        * REPLACE ([
            {'name': c.name, 'passed': c.passed, 'weight': {{ rounded('c.weight') }} + 0, 'detail': {{ detail('c') }}}
            FOR c IN checks
        ] AS checks)
    FROM evaluated
),
revised AS (
    SELECT k.* FROM evaluations AS k SEMI JOIN {{ changed }} AS d ON k.evaluation_key = d.evaluation_key
),
-- Grain: an evaluation and the memories that it is about.
named AS (
    SELECT r.evaluation_key, [m.memory_id FOR m IN d.records] AS ids
    FROM revised AS r
    INNER JOIN found_decisions AS d ON r.trace = d.trace AND r.span = d.span
    WHERE r.scope = 'decision'
    UNION ALL
    SELECT r.evaluation_key, list_sort(list(DISTINCT o.memory_id))
    FROM revised AS r
    INNER JOIN due_operations AS o ON r.trace = o.trace
    WHERE r.scope = 'trace' AND o.counted AND o.memory_id IS NOT NULL
    GROUP BY r.evaluation_key
    UNION ALL
    SELECT r.evaluation_key, list_sort(list(DISTINCT o.memory_id))
    FROM revised AS r
    INNER JOIN operations AS o ON r.environment = o.environment AND r.session_id = o.session_id
    WHERE r.scope = 'session' AND 'session' IN $scopes AND o.counted AND o.memory_id IS NOT NULL
    GROUP BY r.evaluation_key
)
SELECT
    e.* EXCLUDE (evaluation_key, ceased, checks, threshold, score_effective, span_count)
    REPLACE (unhex(e.trace_id) AS trace_id, unhex(e.span_id) AS span_id),
    {{ label('e') }} AS label,
    {{ explanation('e', 'c.detail') }} AS explanation,
    array_to_string(coalesce(n.ids, [])[1:1000], ',') AS record_ids,
    CASE e.scope WHEN 'decision' THEN 'deterministic' ELSE 'structural' END AS framework,
    CAST(to_json({
        'rubric': e.rubric,
        'scope': e.scope,
        'revision': e.revision,
        'threshold': e.threshold,
        'score_effective': e.score_effective,
        'span_count': e.span_count,
        'checks': coalesce(e.checks, [])
    }) AS VARCHAR) AS metadata
FROM worded AS e
INNER JOIN revised AS r ON e.evaluation_key = r.evaluation_key
LEFT JOIN named AS n ON e.evaluation_key = n.evaluation_key
-- Of one that never had a score nobody was told.
WHERE e.scope IN $scopes AND r.told
