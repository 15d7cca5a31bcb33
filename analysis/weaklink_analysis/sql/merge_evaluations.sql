DELETE FROM evaluations WHERE evaluation_key IN (SELECT evaluation_key FROM judged_evaluations);
INSERT INTO evaluations BY NAME SELECT * EXCLUDE (revised) FROM judged_evaluations;
DELETE FROM pending WHERE trace IN (SELECT trace FROM due);
