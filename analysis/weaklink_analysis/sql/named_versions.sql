-- Grain: a version of a name that is referred to.
SELECT v.version_key, v.name_key, v.store, v.version, v.time_ns, v.origin
FROM versions AS v
SEMI JOIN refs AS r ON v.name_key = r.name_key
