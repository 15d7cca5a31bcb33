-- Grain: a version whose parents are others, or other than they were: a decision may rest on it.
SELECT child_key FROM changed_edges
UNION
SELECT child_key FROM removed_edges
UNION
-- What derives from a changed version was affected itself, and is among the links, down to the last frontier.
SELECT l.child_key FROM links AS l SEMI JOIN changed_memory_versions AS c ON l.parent_key = c.version_key
UNION
SELECT e.child_key
FROM edges AS e
SEMI JOIN (FROM changed_memory_versions SEMI JOIN frontier USING (version_key)) AS c ON e.parent_key = c.version_key
UNION
SELECT e.child_key
FROM known_edges AS e
SEMI JOIN touched AS t ON e.parent_name_key = t.name_key
WHERE e.parent_key IS NULL
