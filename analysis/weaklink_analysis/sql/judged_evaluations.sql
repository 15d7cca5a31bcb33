-- Grain: a due trace's evaluation beside its stored state.
-- A revision is made exactly when a score or a verdict changes; anything else is brought up to date without one.
WITH verdicts AS (
    SELECT trace, list((check_name, passed) ORDER BY position) AS verdicts, list(detail ORDER BY position) AS details
    FROM trace_checks
    GROUP BY trace
),
stored_verdicts AS (
    SELECT
        c.trace, c.name, c.rubric,
        list((c.check_name, c.passed) ORDER BY c.position) AS verdicts,
        list(c.detail ORDER BY c.position) AS details
    FROM evaluation_checks AS c
    SEMI JOIN due AS d ON c.trace = d.trace
    GROUP BY c.trace, c.name, c.rubric
),
compared AS (
    SELECT
        n.*,
        e.revision AS stored_revision,
        e.evaluated_at AS stored_evaluated_at,
        e.revision IS NULL
        OR (n.score, n.score_effective, n.passed) IS DISTINCT FROM (e.score, e.score_effective, e.passed)
        OR v.verdicts IS DISTINCT FROM s.verdicts AS revised,
        (
            n.span, n.session_id, n.environment, n.service_name, n.threshold, n.explanation, n.span_count, n.record_ids
        ) IS DISTINCT FROM (
            e.span, e.session_id, e.environment, e.service_name, e.threshold, e.explanation, e.span_count, e.record_ids
        )
        OR v.details IS DISTINCT FROM s.details AS altered
    FROM trace_evaluations AS n
    LEFT JOIN evaluations AS e ON n.trace = e.trace AND n.name = e.name AND n.rubric = e.rubric
    LEFT JOIN verdicts AS v ON n.trace = v.trace
    LEFT JOIN stored_verdicts AS s ON n.trace = s.trace AND n.name = s.name AND n.rubric = s.rubric
    -- A trace that never had an operation that counts has no evaluation.
    WHERE n.score IS NOT NULL OR e.revision IS NOT NULL
)
SELECT
    * EXCLUDE (stored_revision, stored_evaluated_at),
    CAST(coalesce(stored_revision, 0) + CAST(revised AS INTEGER) AS INTEGER) AS revision,
    CASE WHEN revised THEN CAST($now AS TIMESTAMPTZ) ELSE stored_evaluated_at END AS evaluated_at
FROM compared
