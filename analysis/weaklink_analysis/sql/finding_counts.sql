-- Grain: a due trace with findings, as a `whole` or one session of it: how many there are of each code that is weighed.
-- A finding belongs to the sessions of the operations on its span; one of a decision also to the decision's, if its trace
-- has operations of that.
WITH places AS (
    SELECT DISTINCT trace, span, environment, session_id FROM due_operations WHERE counted
    UNION
    SELECT trace, span, environment, session_id FROM judged_decisions
),
found AS (
    SELECT CAST(f.trace_id AS UUID) AS trace, NULL AS environment, NULL AS session_id, TRUE AS whole, f.code
    FROM due_findings AS f
    UNION ALL
    SELECT p.trace, p.environment, p.session_id, FALSE AS whole, f.code
    FROM due_findings AS f
    INNER JOIN places AS p ON CAST(f.trace_id AS UUID) = p.trace AND f.span_id = lower(lpad(hex(p.span), 16, '0'))
)
SELECT
    trace, environment, session_id, whole,
    [{% for code in weighed %}count(*) FILTER (code = '{{ code }}'){{ '' if loop.last else ', ' }}{% endfor %}] AS findings
FROM found
GROUP BY trace, environment, session_id, whole
