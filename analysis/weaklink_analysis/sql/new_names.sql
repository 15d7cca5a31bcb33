-- Grain: an environment and a memory id that nothing named before this batch.
SELECT nextval('name_keys') AS name_key, environment, memory_id
FROM (
    SELECT environment, memory_id FROM incoming_operations WHERE memory_id IS NOT NULL
    UNION
    SELECT environment, unnest(parent_ids) FROM incoming_operations
    UNION
    SELECT environment, unnest(relied_on) FROM incoming_marks
) AS named
ANTI JOIN names USING (environment, memory_id)
