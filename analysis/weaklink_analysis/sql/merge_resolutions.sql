UPDATE operations SET version_key = c.version_key
FROM changed_resolutions AS c
WHERE operations.row_id = c.row_id AND operations.ordinal = c.ordinal;
