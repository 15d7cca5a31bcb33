-- Grain: an environment and a memory id that nothing named before this batch.
SELECT nextval('name_keys') AS name_key, environment, memory_id, hash
FROM asked_names
ANTI JOIN known_names USING (environment, memory_id)
