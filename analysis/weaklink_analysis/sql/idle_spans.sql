-- Grain: a stored span from before a row id, of a trace without memory operations or a decision. Nothing refers to it.
SELECT s.row_id
FROM span_index AS s
ANTI JOIN (
    SELECT trace FROM operations
    UNION ALL
    SELECT trace FROM marks WHERE decision IS NOT NULL
    UNION ALL
    SELECT trace FROM citations
) AS o ON s.trace = o.trace
WHERE s.row_id < $first
