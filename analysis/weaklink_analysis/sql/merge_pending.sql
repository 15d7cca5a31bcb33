DELETE FROM pending;
INSERT INTO pending BY NAME FROM awaiting;
