-- Grain: a stored edge whose child changed, or that names a touched memory.
SELECT e.*, e.rowid AS place
FROM edges AS e
SEMI JOIN (
    SELECT version_key FROM changed_versions WHERE known UNION ALL SELECT version_key FROM removed_versions
) AS v ON e.child_key = v.version_key
UNION
SELECT e.*, e.rowid AS place
FROM edges AS e
SEMI JOIN touched AS t ON e.parent_name_key = t.name_key
