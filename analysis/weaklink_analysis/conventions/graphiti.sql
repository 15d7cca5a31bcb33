-- Graphiti, with the span prefix that it has by default.
-- Grain: one row a span: an episode is named where it is added, and nothing that is found.
SELECT
    row_id,
    CASE
        WHEN starts_with(name, 'graphiti.add_episode') THEN 'write'
        WHEN name = 'graphiti.search.embed_query_vector' THEN 'other'
        ELSE 'read'
    END AS kind,
    "episode.uuid" AS memory_id,
    group_id AS namespace
FROM candidates
