-- Grain: an edge whose published row is new or differs.
SELECT child_key, parent_name_key FROM changed_edges
UNION
-- Of a new version all edges are new, above and below it.
SELECT e.child_key, e.parent_name_key
FROM edges AS e
SEMI JOIN (FROM changed_versions WHERE known) AS c ON e.child_key = c.version_key
UNION
SELECT e.child_key, e.parent_name_key
FROM edges AS e
SEMI JOIN (FROM changed_versions WHERE known) AS c ON e.parent_key = c.version_key
