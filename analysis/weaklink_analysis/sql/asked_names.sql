-- Grain: an environment and a memory id that this batch names, or the fingerprint of a content that it writes.
SELECT environment, memory_id, hash(environment, memory_id) AS hash
FROM (
    SELECT environment, memory_id FROM incoming_operations WHERE memory_id IS NOT NULL
    UNION
    SELECT environment, unnest(parent_ids) FROM incoming_operations
    UNION
    SELECT environment, unnest(relied_on) FROM incoming_marks
    UNION
    SELECT environment, content FROM incoming_operations WHERE content IS NOT NULL
) AS named
