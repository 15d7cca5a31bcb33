-- Every trace with operations is due, but those that wait already go on waiting.
INSERT INTO pending BY NAME
SELECT DISTINCT o.trace, TIMESTAMPTZ '1970-01-01 00:00:00+00' AS last_arrival
FROM operations AS o
ANTI JOIN pending AS p ON o.trace = p.trace;
