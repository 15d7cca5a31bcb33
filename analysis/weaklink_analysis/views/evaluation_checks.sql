-- Grain: a check of an evaluation's newest revision.
SELECT
    name, scope, trace_id, span_id, session_id, revision, "check".name AS check_name, "check".passed, "check".weight,
    "check".detail
FROM (SELECT *, unnest(checks) AS "check" FROM lake.evaluations)
