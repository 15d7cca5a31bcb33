-- Grain: a decision.
SELECT * EXCLUDE (memory, records, unread, finding_codes, memory_key, record_keys), records AS relied_on FROM lake.decisions
