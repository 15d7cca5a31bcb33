-- Verdicts that changed
-- Which verdicts of the last week turned, since something arrived later that they depend on?
SELECT
    h.evaluated_at AS time,
    h.scope,
    h.service_name,
    b.label AS before,
    h.label AS after,
    b.score AS score_before,
    h.score AS score_after,
    h.trace_id,
    h.session_id
FROM evaluation_history AS h
JOIN evaluation_history AS b
    USING (name, scope, rubric, annotator_kind, environment, trace_id, span_id, session_id)
WHERE
    h.revision > 1
    AND b.revision = h.revision - 1
    AND h.label <> b.label
    AND h.evaluated_at BETWEEN now() - INTERVAL 7 DAY AND now()
ORDER BY time DESC
LIMIT 50
