-- Grain: a service and an environment that sent spans, where none of those was asked for.
SELECT service_name, environment, count(*) AS spans, min(start_time) AS earliest, max(start_time) AS latest
FROM spans
GROUP BY service_name, environment
ORDER BY service_name, environment
