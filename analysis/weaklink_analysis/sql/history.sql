-- Grain: an operation on a touched name.
SELECT o.*
FROM operations AS o
SEMI JOIN touched AS t ON o.name_key = t.name_key
