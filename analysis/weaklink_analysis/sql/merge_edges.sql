DELETE FROM edges USING (
    SELECT child_key, parent_name_key FROM changed_edges SEMI JOIN known_edges USING (child_key, parent_name_key)
    UNION ALL
    SELECT child_key, parent_name_key FROM removed_edges
) AS gone
WHERE edges.child_key = gone.child_key AND edges.parent_name_key = gone.parent_name_key;
INSERT INTO edges BY NAME FROM changed_edges;
