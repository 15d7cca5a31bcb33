-- Grain: a service, an environment, a convention and an operation, as its spans were recognised.
SELECT
    service_name,
    environment,
    convention,
    operation,
    count(DISTINCT (trace_id, span_id)) AS spans,
    count(*) AS records,
    count(*) FILTER (counted) AS counted
FROM lake.memory_operations
WHERE {% include 'selected.jinja' %}
GROUP BY ALL
ORDER BY service_name, environment, convention, operation DESC
