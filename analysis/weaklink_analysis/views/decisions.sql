-- Grain: a decision.
SELECT * EXCLUDE (memory, records, unread, finding_codes, memory_key, record_keys) FROM lake.decisions
