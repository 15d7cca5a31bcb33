-- Grain: a stored decision of a due trace that is none any more.
SELECT d.trace, d.span, replace(CAST(d.trace AS VARCHAR), '-', '') AS trace_id, lower(lpad(hex(d.span), 16, '0')) AS span_id
FROM known_decisions AS d
ANTI JOIN found_decisions AS n ON d.trace = n.trace AND d.span = n.span
