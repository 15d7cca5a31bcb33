INSERT INTO span_index BY NAME FROM fresh;
