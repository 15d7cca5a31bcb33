DELETE FROM evaluations WHERE (trace, name, rubric) IN (SELECT (trace, name, rubric) FROM judged_evaluations);
INSERT INTO evaluations BY NAME SELECT * EXCLUDE (revised, altered) FROM judged_evaluations;
DELETE FROM pending WHERE trace IN (SELECT trace FROM due);
