-- Grain: an incoming span whose (trace_id, span_id) occurs more than once, in the batch or in what is stored.
SELECT i.row_id, i.trace, i.span, i.end_ns, s.row_id AS stored_row_id, s.end_ns AS stored_end_ns
FROM incoming_keys AS i
LEFT JOIN (
    FROM span_index SEMI JOIN incoming_keys USING (trace)
) AS s ON i.trace = s.trace AND i.span = s.span
WHERE
    s.row_id IS NOT NULL
    OR (i.trace, i.span) IN (SELECT (trace, span) FROM incoming_keys GROUP BY trace, span HAVING count(*) > 1)
