-- Grain: a due trace: its structural evaluation as it is now. Null scores: the trace has no operations (any more).
WITH scores AS (
    SELECT
        trace,
        round(sum(weight) FILTER (WHERE passed) / sum(weight), 4) AS score,
        string_agg(check_name, ', ' ORDER BY position) FILTER (WHERE passed) AS passes,
        string_agg(check_name || ' — ' || detail, '; ' ORDER BY position) FILTER (WHERE NOT passed) AS failures,
        count(*) FILTER (WHERE passed) AS pass_count,
        count(*) AS check_count
    FROM trace_checks
    GROUP BY trace
),
-- The target span: the trace's root, if it was seen, else its earliest span.
targets AS (
    SELECT
        s.trace,
        min_by(s.span, (s.parent <> 0, s.start_ns, s.span)) AS span,
        min_by(s.service_name, (s.parent <> 0, s.start_ns, s.span)) AS service_name,
        min_by(s.environment, (s.parent <> 0, s.start_ns, s.span)) AS environment
    FROM span_index AS s
    SEMI JOIN due AS d ON s.trace = d.trace
    GROUP BY s.trace
)
SELECT
    rubric.evaluation AS name,
    'trace' AS scope,
    m.trace,
    t.span,
    coalesce(m.session_id, '') AS session_id,
    t.environment,
    t.service_name,
    coalesce(s.score, CASE WHEN s.trace IS NOT NULL THEN 0.0 END) AS score,
    CAST(NULL AS DOUBLE) AS score_effective,
    settings.pass_threshold AS threshold,
    coalesce(s.score, CASE WHEN s.trace IS NOT NULL THEN 0.0 END) >= settings.pass_threshold AS passed,
    CASE
        WHEN s.trace IS NULL THEN 'not_evaluable'
        WHEN coalesce(s.score, 0.0) >= settings.pass_threshold THEN 'pass'
        ELSE 'fail'
    END AS label,
    CASE
        WHEN s.trace IS NULL THEN 'The trace has no memory operations any more.'
        ELSE concat_ws(
            '. ',
            CASE WHEN s.passes IS NOT NULL THEN format('Passed ({}/{}): {}', s.pass_count, s.check_count, s.passes) END,
            CASE
                WHEN s.failures IS NOT NULL
                    THEN format('Failed ({}/{}): {}', s.check_count - s.pass_count, s.check_count, s.failures)
            END
        )
    END AS explanation,
    rubric.name AS rubric,
    'CODE' AS annotator_kind,
    m.spans AS span_count,
    coalesce(m.record_ids, []) AS record_ids
FROM trace_measures AS m
INNER JOIN targets AS t ON m.trace = t.trace
LEFT JOIN scores AS s ON m.trace = s.trace
CROSS JOIN rubric
CROSS JOIN settings
