-- Where confidences come from
-- For how many memories was a confidence declared, for how many derived, and for how many does 0.5 stand in?
SELECT service_name, confidence_source, origin, count(*) AS versions, avg(effective_confidence) AS effective
FROM memory_versions
WHERE written_at BETWEEN now() - INTERVAL 30 DAY AND now()
GROUP BY ALL
ORDER BY service_name, versions DESC
