-- Grain: a write whose extractor, as its trace tells, is another than before: the model of the nearest span that encloses
-- it (itself included, at most 64 levels up) and calls one; else of the last call that ended under the same parent before
-- it began.
WITH RECURSIVE tree AS (
    SELECT s.trace, s.span, s.parent, greatest(s.start_ns, s.end_ns) AS end_ns, m.model
    FROM span_index AS s
    SEMI JOIN askers AS a ON s.trace = a.trace
    LEFT JOIN marks AS m ON s.trace = m.trace AND s.span = m.span
),
walk AS (
    SELECT a.trace, a.span, 0 AS level, t.parent AS at, t.model
    FROM askers AS a
    INNER JOIN tree AS t ON a.trace = t.trace AND a.span = t.span
    UNION ALL
    SELECT w.trace, w.span, w.level + 1, t.parent, t.model
    FROM walk AS w
    INNER JOIN tree AS t ON w.trace = t.trace AND w.at = t.span
    WHERE w.level < 64 AND w.model IS NULL
),
enclosing AS (
    SELECT trace, span, model FROM walk WHERE model IS NOT NULL
),
preceding AS (
    SELECT a.trace, a.span, max_by(t.model, (t.end_ns, t.span)) AS model
    FROM askers AS a
    INNER JOIN tree AS t ON a.trace = t.trace AND a.parent = t.parent
    WHERE a.parent <> 0 AND t.model IS NOT NULL AND t.end_ns <= a.start_ns AND t.span <> a.span
    GROUP BY a.trace, a.span
)
SELECT o.row_id, o.ordinal, o.name_key, coalesce(e.model, p.model) AS model
FROM operations AS o
SEMI JOIN askers AS a ON o.trace = a.trace AND o.span = a.span
LEFT JOIN enclosing AS e ON o.trace = e.trace AND o.span = e.span
LEFT JOIN preceding AS p ON o.trace = p.trace AND o.span = p.span
WHERE o.model IS DISTINCT FROM coalesce(e.model, p.model)
