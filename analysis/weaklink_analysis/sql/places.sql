-- Grain: a span that writes or decides in a due trace with an explicit decision. The agent run that it belongs to, and the
-- explicit decision that it is within; each the nearest one going up, itself included, at most 64 levels.
WITH RECURSIVE tree AS MATERIALIZED (
    SELECT s.trace, s.span, s.parent, m.is_run, m.decision IS NOT NULL AS decides
    FROM due_spans AS s
    SEMI JOIN explicit AS e ON s.trace = e.trace
    LEFT JOIN due_marks AS m ON s.trace = m.trace AND s.span = m.span
),
walk AS (
    SELECT
        t.trace, t.span, 0 AS level, t.parent AS at,
        CASE WHEN t.is_run THEN t.span END AS run,
        CASE WHEN t.decides THEN t.span END AS decision
    FROM tree AS t
    SEMI JOIN (
        SELECT trace, span FROM explicit UNION ALL SELECT trace, span FROM due_operations WHERE kind = 'write'
    ) AS o ON t.trace = o.trace AND t.span = o.span
    UNION ALL
    SELECT
        w.trace, w.span, w.level + 1, t.parent,
        coalesce(w.run, CASE WHEN t.is_run THEN t.span END),
        coalesce(w.decision, CASE WHEN t.decides THEN t.span END)
    FROM walk AS w
    INNER JOIN tree AS t ON w.trace = t.trace AND w.at = t.span
    WHERE w.level < 64 AND (w.run IS NULL OR w.decision IS NULL)
)
SELECT w.trace, w.span, coalesce(max_by(w.run, w.level), any_value(t.span)) AS run, max_by(w.decision, w.level) AS decision
FROM walk AS w
INNER JOIN targets AS t ON w.trace = t.trace
GROUP BY w.trace, w.span
