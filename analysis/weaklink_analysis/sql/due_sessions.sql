-- Grain: a session with operations in a due trace, or with some there when the trace was last judged.
SELECT environment, session_id, {{ session_target() }} AS target
FROM (
    SELECT environment, session_id FROM measures WHERE NOT whole AND session_id IS NOT NULL
    UNION
    SELECT s.environment, s.session_id FROM session_measures AS s SEMI JOIN due AS d ON s.trace = d.trace
)
