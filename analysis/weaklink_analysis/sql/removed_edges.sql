-- Grain: a stored edge whose child version is gone or does not name the parent any more.
SELECT e.child_key, e.parent_name_key
FROM known_edges AS e
SEMI JOIN (
    SELECT version_key FROM changed_versions UNION ALL SELECT version_key FROM removed_versions
) AS v ON e.child_key = v.version_key
ANTI JOIN refs AS r ON e.child_key = r.a AND e.parent_name_key = r.b
