-- Grain: a stored edge that names a touched memory, of a version that did not change itself.
SELECT e.child_key, e.parent_name_key
FROM edges AS e
SEMI JOIN touched AS t ON e.parent_name_key = t.name_key
ANTI JOIN changed_versions AS c ON e.child_key = c.version_key
