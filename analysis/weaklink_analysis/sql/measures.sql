-- Grain: a rubric and a due trace, as a `whole` or one session of it (null: what has none): what the rubric's checks count,
-- over the operations that Tier 3 counts. Only what the spans themselves carry, but for the chain's depth, which is that
-- of the rebuilt chains.
{%- for rubric in rubrics %}
SELECT
    {{ rubric.name | literal }} AS rubric,
    trace,
    environment,
    session_id,
    grouping(session_id) = 1 AS whole,
    count(*) AS operations,
    count(DISTINCT row_id) AS spans,
    count(confidence) AS with_confidence,
    count(*) FILTER (WHERE operation IN ('read', 'write')) AS judged,
    count(*) FILTER (
        WHERE operation IN ('read', 'write') AND coalesce(confidence, {{ rubric.missing_confidence | double }}) >= {{ rubric.confident | double }}
    ) AS above,
    count(*) FILTER (WHERE has_agent) AS with_agent,
    max(depth) AS deepest,
    count(*) FILTER (WHERE operation = 'read' AND confidence < {{ rubric.low | double }} AND NOT hedged) AS low_unhedged,
    min_by(session_id, (time_ns, span, ordinal)) FILTER (WHERE session_id IS NOT NULL) AS first_session,
    min({
        'time_ns': time_ns, 'trace': trace, 'span': span, 'ordinal': ordinal, 'service_name': service_name
    }) AS earliest
FROM due_operations
WHERE counted
GROUP BY GROUPING SETS ((trace), (trace, environment, session_id))
{{- '' if loop.last else '\nUNION ALL' }}
{%- endfor %}
