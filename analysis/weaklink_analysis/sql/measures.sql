-- Grain: a rubric and a due trace, as a `whole` or one session of it (null: what has none): what the rubric's checks count,
-- over the operations that Tier 3 counts. Only what the spans themselves carry, but for the chain's depth, which is that
-- of the rebuilt chains.
-- A rubric that counts spans does it as memledger 2.0.1: values as they came, and the number of parents on one span for
-- depth. Of attributes only the text is known here, so a text that is a number is that number.
SELECT m.*, {% if weighed %}f.findings{% else %}CAST(NULL AS BIGINT[]) AS findings{% endif %}
FROM (
{%- set raw = "CASE raw_confidence WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE TRY_CAST(raw_confidence AS DOUBLE) END" %}
{%- for rubric in rubrics %}
{%- set m = {
    'counted': 'counted',
    'with_confidence': 'confidence',
    'shown': 'confidence',
    'judged': "operation IN ('read', 'write')",
    'with_agent': 'has_agent',
    'depth': 'depth',
    'read': "operation = 'read'",
} if rubric.counting == 'operations' else {
    'counted': 'verb IS NOT NULL',
    'with_confidence': 'raw_confidence',
    'shown': raw,
    'judged': "verb IN ('search', 'recall', 'add')",
    'with_agent': 'record_agent IS NOT NULL',
    'depth': 'parents',
    'read': "verb IN ('search', 'recall')",
} %}
SELECT
    {{ rubric.name | literal }} AS rubric,
    trace,
    environment,
    session_id,
    grouping(session_id) = 1 AS whole,
    count(*) AS operations,
    count(DISTINCT row_id) AS spans,
    count({{ m.with_confidence }}) AS with_confidence,
    count(*) FILTER (WHERE {{ m.judged }}) AS judged,
    count(*) FILTER (
        WHERE {{ m.judged }}
        -- Not a number is greater than any in SQL; here it is nothing.
        AND coalesce({{ m.shown }}, {{ rubric.missing_confidence | double }}) BETWEEN {{ rubric.confident | double }} AND 'inf'
    ) AS above,
    count(*) FILTER (WHERE {{ m.with_agent }}) AS with_agent,
    max({{ m.depth }}) AS deepest,
    count(*) FILTER (WHERE {{ m.read }} AND {{ m.shown }} < {{ rubric.low | double }} AND NOT hedged) AS low_unhedged,
    min_by(session_id, (time_ns, span, ordinal)) FILTER (WHERE session_id IS NOT NULL) AS first_session,
    min({
        'time_ns': time_ns, 'trace': trace, 'span': span, 'ordinal': ordinal, 'service_name': service_name
    }) AS earliest
FROM due_operations
WHERE {{ m.counted }}
GROUP BY GROUPING SETS ((trace), (trace, environment, session_id))
{{- '' if loop.last else '\nUNION ALL' }}
{%- endfor %}
) AS m
{%- if weighed %}
LEFT JOIN finding_counts AS f
    ON
        m.trace = f.trace AND m.whole = f.whole AND m.environment IS NOT DISTINCT FROM f.environment
        AND m.session_id IS NOT DISTINCT FROM f.session_id
{%- endif %}
