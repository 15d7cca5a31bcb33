-- Grain: a due trace. What the structural rubric's checks count, over the operations that Tier 3 counts.
-- Only what the spans themselves carry, but for the chain's depth, which is that of the rebuilt chains.
SELECT
    d.trace,
    count(o.row_id) AS operations,
    count(DISTINCT o.row_id) AS spans,
    count(o.confidence) AS with_confidence,
    count(*) FILTER (WHERE o.operation IN ('read', 'write')) AS judged,
    count(*) FILTER (
        WHERE o.operation IN ('read', 'write') AND coalesce(o.confidence, {{ rubric.missing_confidence }}) >= {{ rubric.confident }}
    ) AS above,
    count(o.own_agent) AS with_agent,
    coalesce(max(c.chain_depth), 0) AS deepest,
    count(*) FILTER (
        WHERE o.operation = 'read' AND o.confidence < {{ rubric.low }} AND NOT o.hedged
    ) AS low_unhedged,
    -- The trace's session is that of its earliest operation that has one.
    min_by(o.session_id, (o.time_ns, o.span, o.ordinal)) FILTER (WHERE o.session_id IS NOT NULL) AS session_id,
    list_sort(list_distinct(list(o.memory_id) FILTER (WHERE o.memory_id IS NOT NULL)))[1:1000] AS record_ids
FROM due AS d
LEFT JOIN operations AS o ON d.trace = o.trace AND o.counted
LEFT JOIN chains AS c ON o.version_key = c.version_key
GROUP BY d.trace
