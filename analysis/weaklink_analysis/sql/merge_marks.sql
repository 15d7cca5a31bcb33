INSERT INTO marks BY NAME FROM (SELECT * EXCLUDE (store, relied_on) FROM incoming_marks);
INSERT INTO citations BY NAME
SELECT c.trace, c.span, c.row_id, c.start_ns, n.name_key, c.store
FROM (SELECT *, unnest(relied_on) AS memory_id FROM incoming_marks) AS c
INNER JOIN known_names AS n ON c.environment = n.environment AND c.memory_id = n.memory_id;
