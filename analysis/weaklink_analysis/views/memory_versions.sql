-- Grain: a version of a memory.
SELECT * EXCLUDE (version_key, ordinal) FROM lake.memory_versions
