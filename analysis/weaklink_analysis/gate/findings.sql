-- Grain: a severity or a code that is bounded, and how many findings of it the selected traces have.
WITH found AS (
    SELECT f.code, f.severity
    FROM findings AS f
    SEMI JOIN gate_targets AS t ON f.trace_id = t.trace_id
)
SELECT b.name, count(f.code) AS findings
FROM (SELECT unnest($names::VARCHAR[]) AS name) AS b
LEFT JOIN found AS f ON b.name IN (f.code, f.severity)
GROUP BY b.name
