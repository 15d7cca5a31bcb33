DELETE FROM decisions WHERE (trace, span) IN (
    SELECT (trace, span) FROM changed_decisions UNION ALL SELECT (trace, span) FROM removed_decisions
);
INSERT INTO decisions BY NAME
SELECT n.* FROM found_decisions AS n SEMI JOIN changed_decisions AS c ON n.trace = c.trace AND n.span = c.span;
