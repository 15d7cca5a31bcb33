-- Grain: a memory touched by a span; one row with a null memory_id for a memory span that names none.
SELECT * EXCLUDE (
    row_id, version_key, happened_at, counted, skew_seconds, contradicted_confidence, refused_confidence, refused_thresholds,
    finding_codes, has_agent, has_session
) REPLACE (happened_at AS end_time), 1 + ln(1 + earlier_reads) AS access_boost FROM lake.memory_operations
