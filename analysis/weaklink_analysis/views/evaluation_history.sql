-- Grain: a revision of an evaluation.
SELECT * EXCLUDE (checks) FROM lake.evaluation_history
