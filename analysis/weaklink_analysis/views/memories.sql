-- Grain: a memory: its newest version, and how it was used.
WITH uses AS (
    SELECT
        environment,
        resolved_store AS store,
        memory_id,
        count(*) FILTER (WHERE operation = 'read') AS reads,
        count(*) FILTER (WHERE operation = 'outcome' AND success) AS successes,
        count(*) FILTER (WHERE operation = 'outcome' AND NOT success) AS failures,
        count(*) FILTER (WHERE conflict) AS conflicts
    FROM memory_operations
    WHERE resolved_version IS NOT NULL AND (operation IN ('read', 'outcome') OR conflict)
    GROUP BY environment, resolved_store, memory_id
),
newest AS (
    SELECT *, min(written_at) OVER memory AS first_written_at
    FROM memory_versions
    WINDOW memory AS (PARTITION BY environment, store, memory_id)
    QUALIFY version = max(version) OVER memory
),
used AS (
    SELECT
        n.*,
        coalesce(u.reads, 0) AS read_count,
        coalesce(u.successes, 0) AS success_count,
        coalesce(u.failures, 0) AS failure_count,
        coalesce(u.conflicts, 0) AS conflicts
    FROM newest AS n
    LEFT JOIN uses AS u ON n.environment = u.environment AND n.store = u.store AND n.memory_id = u.memory_id
)
SELECT
    * EXCLUDE (read_count, success_count, failure_count, conflicts, first_written_at),
    -- The reference's formula; the order of its terms is part of it.
    CAST(least(100, greatest(0, round_even(
        60 * effective_confidence
        + 25 * (success_count + 1) / (success_count + failure_count + 2)
        + 1.5 * least(read_count, 10)
        - 10 * conflicts
        - CASE WHEN hedged THEN 5 ELSE 0 END,
        0
    ))) AS INTEGER) AS quality_score,
    read_count,
    success_count,
    failure_count,
    first_written_at
FROM used
