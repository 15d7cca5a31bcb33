-- Grain: an operation whose published row is new or differs, and its trace.
SELECT row_id, ordinal, trace FROM named_operations
UNION
SELECT row_id, ordinal, trace FROM inherited
UNION
-- Where the touched names have no such operation, it is of this batch.
SELECT row_id, ordinal, trace FROM history SEMI JOIN changed_resolutions USING (row_id, ordinal)
UNION
SELECT row_id, ordinal, trace FROM changed_reads
UNION
SELECT o.row_id, o.ordinal, o.trace
FROM operations AS o
SEMI JOIN changed_memory_versions AS c ON o.version_key = c.version_key
