-- Grain: a version of a memory.
SELECT * EXCLUDE (version_key, span_ordinal, finding_codes) FROM lake.memory_versions
