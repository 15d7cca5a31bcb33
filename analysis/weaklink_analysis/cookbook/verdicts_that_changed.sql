-- Verdicts that changed
-- Which verdicts of the last week turned, since something arrived later that they depend on?
WITH again AS MATERIALIZED (
    FROM evaluation_history
    WHERE revision > 1 AND evaluated_at BETWEEN now() - INTERVAL 7 DAY AND now()
),
earlier AS MATERIALIZED (
    FROM evaluation_history
    WHERE session_id IN (SELECT session_id FROM again)
)
SELECT
    a.evaluated_at AS time,
    a.scope,
    a.service_name,
    e.label AS before,
    a.label AS after,
    e.score AS score_before,
    a.score AS score_after,
    a.trace_id,
    a.session_id
FROM again AS a
JOIN earlier AS e
    USING (name, scope, rubric, annotator_kind, environment, trace_id, span_id, session_id)
WHERE e.revision = a.revision - 1 AND a.label <> e.label
ORDER BY time DESC
LIMIT 50
