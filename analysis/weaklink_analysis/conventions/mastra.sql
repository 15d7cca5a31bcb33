-- Mastra: spans `memory: save` and `memory: recall`. The agent is on a span above.
-- Grain: one row a span: it names no record.
SELECT
    row_id,
    CASE name WHEN 'memory: save' THEN 'write' ELSE 'read' END AS kind
FROM candidates
