-- Grain: a check of a due trace's structural evaluation.
WITH judged AS (
    SELECT
        trace,
        'confidence_populated' AS check_name,
        with_confidence >= rubric.populated_share * operations AS passed,
        format(
            '{}/{} operations have confidence ({:.0f}%)', with_confidence, operations,
            100.0 * with_confidence / operations
        ) AS detail
    FROM trace_measures CROSS JOIN rubric WHERE operations > 0
    UNION ALL
    SELECT
        trace,
        'confidence_above_threshold',
        judged > 0 AND above >= rubric.confident_share * judged,
        format(
            '{:.0f}% of memories have confidence >= {}',
            coalesce(100.0 * above / nullif(judged, 0), 0), rubric.confident
        )
    FROM trace_measures CROSS JOIN rubric WHERE operations > 0
    UNION ALL
    SELECT
        trace,
        'source_agent_present',
        with_agent >= rubric.agent_share * operations,
        format('{}/{} operations have an agent ({:.0f}%)', with_agent, operations, 100.0 * with_agent / operations)
    FROM trace_measures CROSS JOIN rubric WHERE operations > 0
    UNION ALL
    SELECT
        trace,
        'chain_depth_bounded',
        deepest <= rubric.max_depth,
        format('Deepest chain: {} derivations (limit: {})', deepest, rubric.max_depth)
    FROM trace_measures CROSS JOIN rubric WHERE operations > 0
    UNION ALL
    SELECT
        trace,
        'no_low_confidence_unhedged',
        low_unhedged = 0,
        format('{} low-confidence memories read without the hedge mark', low_unhedged)
    FROM trace_measures WHERE operations > 0
)
SELECT j.trace, w.position, j.check_name, j.passed, w.weight, j.detail
FROM judged AS j
INNER JOIN rubric_checks AS w ON j.check_name = w.check_name
