DELETE FROM span_index WHERE row_id IN (SELECT row_id FROM idle_spans);
DELETE FROM marks WHERE row_id IN (SELECT row_id FROM idle_spans);
