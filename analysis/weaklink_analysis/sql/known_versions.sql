-- Grain: a stored version of a touched name.
SELECT v.*
FROM versions AS v
SEMI JOIN touched AS t ON v.name_key = t.name_key
