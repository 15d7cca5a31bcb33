-- Grain: the newest revision of (name, scope, target, rubric, annotator_kind).
SELECT * EXCLUDE (checks) FROM lake.evaluations
