-- Grain: a version whose chain numbers may differ: it changed itself, or what it derives from did.
SELECT version_key FROM changed_versions
UNION
SELECT child_key FROM changed_edges
UNION
-- What derives from a new version was resolved to it just now.
SELECT e.child_key
FROM edges AS e
SEMI JOIN (FROM changed_versions WHERE known) AS c ON e.parent_key = c.version_key
