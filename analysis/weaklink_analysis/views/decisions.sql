-- Grain: a decision.
SELECT * EXCLUDE (memory, records, unread) FROM lake.decisions
