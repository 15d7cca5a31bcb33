-- Grain: an operation whose published row is new or differs.
SELECT row_id, ordinal FROM named_operations
UNION
SELECT row_id, ordinal FROM inherited
UNION
SELECT row_id, ordinal FROM changed_resolutions
UNION
SELECT o.row_id, o.ordinal
FROM operations AS o
SEMI JOIN changed_memory_versions AS c ON o.version_key = c.version_key
