-- Grain: a selected trace whose score is too low: its checks that failed, and of each the span that shows it best.
WITH failing AS (
    FROM gate_targets
    WHERE scope = 'trace' AND score < $min_score
    ORDER BY score, trace_id, span_id
    LIMIT $most
),
checks AS (
    SELECT
        c.trace_id,
        list({'name': c.check_name, 'detail': c.detail, 'weight': c.weight} ORDER BY c.weight DESC, c.check_name)
            FILTER (NOT c.passed) AS failed,
        sum(c.weight) AS weight
    FROM evaluation_checks AS c
    SEMI JOIN failing AS f ON c.trace_id = f.trace_id
    WHERE c.scope = 'trace' AND c.rubric = $rubric
    GROUP BY c.trace_id
),
counted AS (
    SELECT
        o.trace_id, o.operation, o.declared_confidence, o.hedged, o.has_agent, o.start_time, o.ordinal,
        coalesce(v.chain_depth, 0) AS depth,
        {
            'span_id': o.span_id, 'operation': o.operation, 'memory_id': o.memory_id, 'version_key': o.version_key,
            'declared': o.declared_confidence, 'agent_id': o.agent_id, 'convention': o.convention
        } AS span
    FROM lake.memory_operations AS o
    SEMI JOIN failing AS f ON o.trace_id = f.trace_id
    LEFT JOIN lake.memory_versions AS v ON o.version_key = v.version_key
    WHERE o.counted
),
shown AS (
    SELECT
        trace_id,
        {%- for check, shows in culprits.items() %}
        min_by(span, ({{ shows.order }}, start_time, span.span_id, ordinal)) FILTER ({{ shows.when }}) AS {{ check }}
        {{- '' if loop.last else ',' }}
        {%- endfor %}
    FROM counted
    GROUP BY trace_id
)
SELECT f.*, c.failed, c.weight, s.* EXCLUDE (trace_id)
FROM failing AS f
INNER JOIN checks AS c ON f.trace_id = c.trace_id
LEFT JOIN shown AS s ON f.trace_id = s.trace_id
ORDER BY f.score, f.trace_id, f.span_id
