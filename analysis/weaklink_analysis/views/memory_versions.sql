-- Grain: a version of a memory.
SELECT * EXCLUDE (version_key) FROM lake.memory_versions
