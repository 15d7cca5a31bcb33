-- Grain: an operation whose agent, session, agent run or operation changes with what its ancestor spans are and carry.
-- Each is taken from the nearest ancestor that carries it, at most 64 levels up (a loop among parents just ends there).
-- A bare `get` beneath a search span is the search walking a chain: lineage.
WITH RECURSIVE walk AS (
    SELECT
        row_id, ordinal, trace, kind, in_runs, 0 AS level, parent AS at,
        own_agent AS agent_id, own_session AS session_id, own_run AS run, FALSE AS in_search
    FROM seekers
    UNION ALL
    SELECT
        w.row_id, w.ordinal, w.trace, w.kind, w.in_runs, w.level + 1, a.parent,
        coalesce(w.agent_id, a.agent_id), coalesce(w.session_id, a.session_id), coalesce(w.run, a.run),
        w.in_search OR a.is_search
    FROM walk AS w
    INNER JOIN ancestors AS a ON w.trace = a.trace AND w.at = a.span
    WHERE
        w.level < 64
        AND (
            w.agent_id IS NULL
            OR w.session_id IS NULL
            OR (w.in_runs AND w.run IS NULL)
            OR (w.kind = 'get' AND NOT w.in_search)
        )
),
found AS (
    SELECT
        row_id,
        ordinal,
        max_by(agent_id, level) AS agent_id,
        max_by(session_id, level) AS session_id,
        max_by(run, level) AS run,
        bool_or(in_search) AS in_search
    FROM walk
    GROUP BY row_id, ordinal
)
SELECT
    s.row_id,
    s.ordinal,
    s.trace,
    s.name_key,
    s.kind,
    f.agent_id,
    f.session_id,
    f.run,
    CASE WHEN s.kind = 'get' THEN CASE WHEN f.in_search THEN 'lineage' ELSE 'read' END ELSE s.operation END AS operation
FROM seekers AS s
INNER JOIN found AS f ON s.row_id = f.row_id AND s.ordinal = f.ordinal
WHERE
    s.agent_id IS DISTINCT FROM f.agent_id
    OR s.session_id IS DISTINCT FROM f.session_id
    OR s.run IS DISTINCT FROM f.run
    OR (s.kind = 'get' AND (s.operation = 'lineage') <> f.in_search)
