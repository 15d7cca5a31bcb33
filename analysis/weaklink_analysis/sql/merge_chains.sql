DELETE FROM chains WHERE rowid IN (SELECT place FROM known_chains SEMI JOIN changed_chains USING (version_key));
INSERT INTO chains BY NAME FROM changed_chains;
