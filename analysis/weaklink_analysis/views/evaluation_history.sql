-- Grain: a revision of an evaluation.
SELECT * FROM lake.evaluation_history
