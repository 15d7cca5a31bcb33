-- Grain: a check that a changed evaluation does not have any more.
SELECT replace(CAST(c.trace AS VARCHAR), '-', '') AS trace_id, c.name, c.rubric, c.check_name
FROM evaluation_checks AS c
SEMI JOIN changed_evaluations AS d ON c.trace = d.trace AND c.name = d.name AND c.rubric = d.rubric
ANTI JOIN trace_checks AS t ON c.trace = t.trace AND c.check_name = t.check_name
