-- Grain: a check of an evaluation's newest revision.
SELECT name, scope, trace_id, span_id, session_id, revision, check_name, passed, weight, detail
FROM lake.evaluation_checks
