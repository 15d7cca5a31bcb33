INSERT INTO span_index BY NAME SELECT * EXCLUDE (arrived_at) FROM fresh;
