-- Every trace with operations or a decision is due, but those that wait already go on waiting.
INSERT INTO pending BY NAME
SELECT DISTINCT o.trace, TIMESTAMPTZ '1970-01-01 00:00:00+00' AS last_arrival
FROM (SELECT trace FROM operations UNION ALL SELECT trace FROM marks WHERE decision IS NOT NULL) AS o
ANTI JOIN pending AS p ON o.trace = p.trace;
