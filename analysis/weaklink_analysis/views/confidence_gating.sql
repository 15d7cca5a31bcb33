-- Grain: a span that read, also if it names no memory.
SELECT
    trace_id,
    span_id,
    count(*) FILTER (WHERE confidence_flag = 'PASS') AS passed,
    count(*) FILTER (WHERE confidence_flag = 'FLAG') AS flagged,
    count(*) FILTER (WHERE confidence_flag = 'FILTER') AS filtered,
    min_by(min_threshold, ordinal) AS min_threshold,
    min_by(flag_threshold, ordinal) AS flag_threshold,
    to_json(coalesce(
        list(
            {'id': memory_id, 'effective_confidence': effective_confidence, 'flag': confidence_flag} ORDER BY ordinal
        ) FILTER (WHERE memory_id IS NOT NULL),
        []
    )) AS records
FROM memory_operations
WHERE operation = 'read'
GROUP BY trace_id, span_id
