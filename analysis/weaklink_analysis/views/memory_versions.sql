-- Grain: a version of a memory.
SELECT * EXCLUDE (version_key, span_ordinal) FROM lake.memory_versions
