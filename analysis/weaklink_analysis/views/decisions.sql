-- Grain: a decision.
SELECT * EXCLUDE (memory, records, unread, memory_key, record_keys) FROM lake.decisions
