-- Grain: a stored name that one of those asked for may be.
SELECT name_key, environment, memory_id FROM names SEMI JOIN found_names USING (name_key)
