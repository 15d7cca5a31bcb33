-- Grain: an affected version, or a parent of one, of which chain numbers are stored.
SELECT c.*, c.rowid AS place
FROM chains AS c
SEMI JOIN (FROM affected UNION ALL SELECT parent_key FROM links) AS n ON c.version_key = n.version_key
