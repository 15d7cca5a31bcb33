-- Of those that wait already only what changes: with a quiet period of hours they are millions.
UPDATE pending SET last_arrival = a.last_arrival
FROM awaiting AS a
WHERE pending.trace = a.trace AND pending.last_arrival < a.last_arrival;
INSERT INTO pending BY NAME FROM awaiting ANTI JOIN pending USING (trace);
