UPDATE chains SET others = l.others FROM changed_loops AS l WHERE chains.version_key = l.version_key;
INSERT INTO changed_chains BY NAME SELECT version_key FROM changed_loops;
