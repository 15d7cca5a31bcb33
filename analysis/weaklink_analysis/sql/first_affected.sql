-- Grain: a version whose chain numbers may differ: it changed itself, or what it derives from did.
SELECT version_key FROM changed_versions
UNION
SELECT child_key FROM changed_edges
UNION
SELECT e.child_key FROM edges AS e SEMI JOIN changed_versions AS c ON e.parent_key = c.version_key
