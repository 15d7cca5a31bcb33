-- Grain: a finding on a due trace.
FROM (
{% include 'findings.sql' %}
)
WHERE trace_id IN (SELECT replace(CAST(trace AS VARCHAR), '-', '') FROM due)
