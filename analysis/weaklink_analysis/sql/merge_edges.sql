DELETE FROM edges WHERE (child_key, parent_name_key) IN (
    SELECT (child_key, parent_name_key) FROM changed_edges
    UNION ALL
    SELECT (child_key, parent_name_key) FROM removed_edges
);
INSERT INTO edges BY NAME FROM changed_edges;
