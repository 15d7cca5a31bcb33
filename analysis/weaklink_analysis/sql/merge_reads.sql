UPDATE operations SET earlier_reads = c.earlier_reads
FROM changed_reads AS c
WHERE operations.row_id = c.row_id AND operations.ordinal = c.ordinal;
