-- Grain: a child version and a parent it names, new or resolved to another version than before.
SELECT r.a AS child_key, r.b AS parent_name_key, r.version_key AS parent_key, r.skewed
FROM resolved AS r
LEFT JOIN known_edges AS e ON r.a = e.child_key AND r.b = e.parent_name_key
WHERE e.child_key IS NULL OR (r.version_key, r.skewed) IS DISTINCT FROM (e.parent_key, e.skewed)
