DELETE FROM evaluations WHERE (trace, name, rubric) IN (SELECT (trace, name, rubric) FROM changed_evaluations);
DELETE FROM evaluation_checks WHERE (trace, name, rubric) IN (SELECT (trace, name, rubric) FROM changed_evaluations);
INSERT INTO evaluations BY NAME
SELECT j.* EXCLUDE (revised, altered)
FROM judged_evaluations AS j
SEMI JOIN changed_evaluations AS d ON j.trace = d.trace AND j.name = d.name AND j.rubric = d.rubric;
INSERT INTO evaluation_checks BY NAME
SELECT j.name, j.scope, c.trace, j.rubric, j.annotator_kind, c.position, c.check_name, c.passed, c.weight, c.detail
FROM trace_checks AS c
INNER JOIN judged_evaluations AS j ON c.trace = j.trace
SEMI JOIN changed_evaluations AS d ON j.trace = d.trace AND j.name = d.name AND j.rubric = d.rubric;
DELETE FROM pending WHERE trace IN (SELECT trace FROM due);
