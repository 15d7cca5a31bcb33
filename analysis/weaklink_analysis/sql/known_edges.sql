-- Grain: a stored edge of a child that changed, or of which a parent is resolved again.
SELECT e.*, e.rowid AS place
FROM edges AS e
SEMI JOIN (
    SELECT a AS version_key FROM refs
    UNION ALL
    SELECT version_key FROM changed_versions
    UNION ALL
    SELECT version_key FROM removed_versions
) AS v ON e.child_key = v.version_key
