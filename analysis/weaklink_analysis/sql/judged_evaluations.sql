-- Grain: a due trace's evaluation beside its stored state.
-- A revision is made exactly when a score or a verdict changes; anything else is brought up to date without one.
WITH compared AS (
    SELECT
        n.*,
        e.revision AS stored_revision,
        e.evaluated_at AS stored_evaluated_at,
        e.revision IS NULL
        OR (n.score, n.score_effective, n.passed) IS DISTINCT FROM (e.score, e.score_effective, e.passed)
        OR [(c.name, c.passed) FOR c IN n.checks] IS DISTINCT FROM [(c.name, c.passed) FOR c IN e.checks] AS revised,
        (
            n.span, n.session_id, n.environment, n.service_name, n.threshold, n.explanation, n.span_count,
            n.record_ids, n.checks
        ) IS DISTINCT FROM (
            e.span, e.session_id, e.environment, e.service_name, e.threshold, e.explanation, e.span_count,
            e.record_ids, e.checks
        ) AS altered
    FROM trace_evaluations AS n
    LEFT JOIN evaluations AS e ON n.trace = e.trace AND n.name = e.name AND n.rubric = e.rubric
    -- A trace that never had an operation that counts has no evaluation.
    WHERE n.score IS NOT NULL OR e.revision IS NOT NULL
)
SELECT
    * EXCLUDE (stored_revision, stored_evaluated_at),
    CAST(coalesce(stored_revision, 0) + CAST(revised AS INTEGER) AS INTEGER) AS revision,
    CASE WHEN revised THEN CAST($now AS TIMESTAMPTZ) ELSE stored_evaluated_at END AS evaluated_at
FROM compared
WHERE revised OR altered
