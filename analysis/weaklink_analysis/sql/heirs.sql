-- Grain: a decision whose span does not carry both agent and session, and what its ancestors carry: the nearest, at most
-- 64 levels up.
WITH RECURSIVE lacking AS (
    SELECT trace, span, agent_id, session_id FROM decided WHERE agent_id IS NULL OR session_id IS NULL
),
tree AS MATERIALIZED (
    SELECT s.trace, s.span, s.parent, s.agent_id, s.session_id
    FROM due_spans AS s
    SEMI JOIN lacking AS l ON s.trace = l.trace
),
walk AS (
    SELECT l.trace, l.span, 0 AS level, l.span AS at, l.agent_id, l.session_id
    FROM lacking AS l
    UNION ALL
    SELECT
        w.trace, w.span, w.level + 1, t.parent,
        coalesce(w.agent_id, t.agent_id), coalesce(w.session_id, t.session_id)
    FROM walk AS w
    INNER JOIN tree AS t ON w.trace = t.trace AND w.at = t.span
    WHERE w.level <= 64 AND (w.agent_id IS NULL OR w.session_id IS NULL)
)
SELECT trace, span, max_by(agent_id, level) AS agent_id, max_by(session_id, level) AS session_id
FROM walk
GROUP BY trace, span
