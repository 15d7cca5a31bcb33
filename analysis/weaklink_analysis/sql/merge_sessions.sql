DELETE FROM session_measures WHERE trace IN (SELECT trace FROM due);
INSERT INTO session_measures BY NAME
SELECT * EXCLUDE (whole, first_session) FROM measures WHERE NOT whole AND session_id IS NOT NULL;
