DELETE FROM edges WHERE rowid IN (
    SELECT place FROM known_edges SEMI JOIN changed_edges USING (child_key, parent_name_key)
    UNION ALL
    SELECT place FROM known_edges SEMI JOIN removed_edges USING (child_key, parent_name_key)
);
INSERT INTO edges BY NAME FROM changed_edges;
