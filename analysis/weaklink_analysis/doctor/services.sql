-- Grain: a service and an environment that sent spans.
SELECT service_name, environment, count(*) AS spans
FROM spans
WHERE {% include 'selected.jinja' %}
GROUP BY ALL
ORDER BY ALL
