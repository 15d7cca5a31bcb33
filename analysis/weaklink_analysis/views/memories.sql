-- Grain: a memory: its newest version.
SELECT *, min(written_at) OVER memory AS first_written_at
FROM memory_versions
WINDOW memory AS (PARTITION BY environment, store, memory_id)
QUALIFY version = max(version) OVER memory
