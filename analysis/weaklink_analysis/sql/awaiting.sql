-- Grain: a trace to evaluate, and when its last span arrived. What changed from another trace is due at once.
SELECT trace, max(last_arrival) AS last_arrival
FROM (
    SELECT f.trace, CAST($arrived_at AS TIMESTAMPTZ) AS last_arrival
    FROM fresh AS f
    SEMI JOIN operations AS o ON f.trace = o.trace
    UNION ALL
    SELECT o.trace, TIMESTAMPTZ '1970-01-01 00:00:00+00'
    FROM operations AS o
    SEMI JOIN changed_memory_operations AS c ON o.row_id = c.row_id AND o.ordinal = c.ordinal
    UNION ALL
    SELECT trace, TIMESTAMPTZ '1970-01-01 00:00:00+00' FROM removed_operations
    UNION ALL
    SELECT trace, last_arrival FROM pending
)
GROUP BY trace
