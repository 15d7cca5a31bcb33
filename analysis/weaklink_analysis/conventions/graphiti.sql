-- Graphiti, with the span prefix that it has by default. Of the spans of a search one is there once.
-- Grain: one row a span: an episode is named where it is added, and nothing that is found.
SELECT
    row_id,
    CASE name WHEN 'graphiti.search.execute_scopes' THEN 'read' ELSE 'write' END AS kind,
    "episode.uuid" AS memory_id,
    group_id AS namespace,
    concat("result.edges", "result.nodes", "result.episodes", "result.communities") <> '0000' AS counted
FROM candidates
