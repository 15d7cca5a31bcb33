-- Grain: an evaluation of a due target beside its stored state; of a target that is none any more only that is left.
-- A revision is made exactly when a score or a verdict changes; anything else is brought up to date without one.
WITH found AS (
    FROM structural_evaluations
    UNION ALL BY NAME
    FROM decision_evaluations
),
standing AS (
    FROM evaluations SEMI JOIN (SELECT trace AS target FROM due UNION ALL SELECT target FROM due_sessions) USING (target)
),
compared AS (
    SELECT
        name, rubric, scope, target, decision,
        s.evaluation_key AS stored_key,
        s.revision AS stored_revision,
        s.evaluated_at AS stored_evaluated_at,
        n.span IS NULL AS ceased,
        coalesce(n.trace, s.trace) AS trace,
        coalesce(n.span, s.span) AS span,
        coalesce(n.session_id, s.session_id) AS session_id,
        coalesce(n.environment, s.environment) AS environment,
        coalesce(n.service_name, s.service_name) AS service_name,
        n.score, n.score_effective, n.passed, coalesce(n.span_count, 0) AS span_count, n.checks,
        n.score IS NOT NULL OR coalesce(s.told, FALSE) AS told,
        CASE
            WHEN s.evaluation_key IS NULL THEN TRUE
            ELSE
                (n.span IS NULL, n.score, n.score_effective, n.passed, [(c.name, c.passed) FOR c IN n.checks])
                IS DISTINCT FROM (s.ceased, s.score, s.score_effective, s.passed, [(c.name, c.passed) FOR c IN s.checks])
        END AS revised,
        CASE
            WHEN s.evaluation_key IS NULL THEN TRUE
            ELSE
                (n.trace, n.span, n.session_id, n.environment, n.service_name, n.span_count, n.checks)
                IS DISTINCT FROM (s.trace, s.span, s.session_id, s.environment, s.service_name, s.span_count, s.checks)
        END AS altered
    FROM found AS n
    FULL JOIN standing AS s USING (name, rubric, scope, target, decision)
)
SELECT
    * EXCLUDE (stored_key, stored_revision, stored_evaluated_at, altered),
    coalesce(stored_key, nextval('evaluation_keys')) AS evaluation_key,
    CAST(coalesce(stored_revision, 0) + CAST(revised AS INTEGER) AS INTEGER) AS revision,
    CASE WHEN revised THEN CAST($now AS TIMESTAMPTZ) ELSE stored_evaluated_at END AS evaluated_at
FROM compared
WHERE revised OR (altered AND NOT ceased)
