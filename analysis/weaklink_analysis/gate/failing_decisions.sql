{%- from 'attribution_criteria.jinja' import attribution_criteria with context -%}
-- Grain: a selected decision whose score is too low: what it relied on, and the criteria that cost it points on effective
-- confidence. A memory that nothing here wrote or showed counts as the evaluation counts it.
WITH failing AS (
    FROM gate_targets
    WHERE scope = 'decision' AND score < $min_score
    ORDER BY score, trace_id, span_id
    LIMIT $most
),
decided AS (
    SELECT f.*, d.agent_id, d.memory_key, d.decision_memory_id, d.records, d.record_keys
    FROM failing AS f
    INNER JOIN lake.decisions AS d ON f.trace_id = d.trace_id AND f.span_id = d.span_id
),
listed AS (
    SELECT trace_id, span_id, unnest(records) AS named, unnest(record_keys) AS version_key FROM decided
),
known AS (
    SELECT
        l.trace_id, l.span_id,
        {
            'effective': coalesce(v.effective_confidence, {{ attribution.assumed_confidence | double }}),
            'declared': coalesce(v.declared_confidence, {{ attribution.assumed_confidence | double }}),
            'memory_id': l.named.memory_id, 'version': l.named.version, 'version_key': l.version_key,
            'author': v.agent_id, 'has_session': v.session_id IS NOT NULL, 'hedged': coalesce(v.hedged, FALSE)
        } AS record
    FROM listed AS l
    LEFT JOIN lake.memory_versions AS v ON l.version_key = v.version_key
),
tallies AS (
    SELECT
        trace_id, span_id,
        count(*) AS total,
        count(record.author) AS attributed,
        count(DISTINCT record.author) AS authors,
        count(*) FILTER (record.has_session) AS sessions,
        count(*) FILTER (record.effective < {{ attribution.low | double }} AND NOT record.hedged) AS effective_low,
        count(*) FILTER (
            record.effective >= {{ attribution.low | double }} AND record.effective < {{ attribution.confident | double }}
            AND NOT record.hedged
        ) AS effective_flagged,
        avg(record.effective) AS effective_mean,
        min(record.effective) AS lowest,
        list(record ORDER BY record.effective, record.declared, record.memory_id, record.version) AS relied_on
    FROM known
    GROUP BY trace_id, span_id
),
measured AS (
    SELECT
        d.* EXCLUDE (records, record_keys),
        t.* EXCLUDE (trace_id, span_id),
        m.effective_confidence AS memory_effective,
        m.agent_id AS memory_author,
        coalesce(m.chain_truncated, FALSE) AS truncated,
        least(m.effective_confidence, t.lowest) AS effective_chain
    FROM decided AS d
    INNER JOIN tallies AS t ON d.trace_id = t.trace_id AND d.span_id = t.span_id
    LEFT JOIN lake.memory_versions AS m ON d.memory_key = m.version_key
)
SELECT
    d.*,
    list_filter([
        {%- for name, criterion in attribution_criteria.items() %}
        {'name': '{{ name }}', 'points': CAST({{ criterion.points | replace('%s', 'effective') }} AS DOUBLE)}
        {{- '' if loop.last else ',' }}
        {%- endfor %}
    ], lambda c: c.points < 0) AS criteria
FROM measured AS d
ORDER BY d.score, d.trace_id, d.span_id
