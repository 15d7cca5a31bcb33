DELETE FROM chains WHERE version_key IN (SELECT version_key FROM changed_chains);
INSERT INTO chains BY NAME FROM changed_chains;
