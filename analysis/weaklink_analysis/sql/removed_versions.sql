-- Grain: a stored version of a touched name that is none any more.
SELECT v.version_key, v.name_key, v.trace
FROM known_versions AS v
ANTI JOIN candidate_versions AS c ON v.row_id = c.row_id AND v.ordinal = c.ordinal
