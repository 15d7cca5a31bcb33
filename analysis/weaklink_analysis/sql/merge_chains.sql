DELETE FROM chains WHERE version_key IN (SELECT version_key FROM chain_round);
INSERT INTO chains BY NAME FROM chain_round;
INSERT INTO changed_chains SELECT version_key FROM chain_round;
