UPDATE operations SET model = e.model
FROM extracted AS e
WHERE operations.row_id = e.row_id AND operations.ordinal = e.ordinal;
