{%- from 'finding_codes.jinja' import codes_of with context -%}
{%- from 'signals.jinja' import word -%}
{%- from 'scoring.jinja' import age, freshness with context -%}
-- Grain: a memory touched by a span. The lake's rows for the view of this name.
SELECT *, {{ codes_of('operations') }}
FROM (
    SELECT
        o.row_id,
        o.version_key,
        replace(CAST(o.trace AS VARCHAR), '-', '') AS trace_id,
        lower(lpad(hex(o.span), 16, '0')) AS span_id,
        o.ordinal,
        {{ time('o.start_ns') }} AS start_time,
        {{ time('o.end_ns') }} AS end_time,
        {{ time('o.time_ns') }} AS happened_at,
        o.operation,
        o.environment,
        o.service_name,
        o.store,
        o.memory_id,
        o.memory_type,
        o.namespace,
        o.agent_id,
        o.session_id,
        o.confidence AS declared_confidence,
        o.hedged,
        o.parent_ids,
        o.score,
        o.rank,
        o.success,
        o.kind = 'conflict' AS conflict,
        o.convention,
        v.store AS resolved_store,
        v.version AS resolved_version,
        {{ effective('v', 'c') }} AS effective_confidence,
        {{ flag(effective('v', 'c'), 'o') }} AS confidence_flag,
        lower(lpad(hex(o.run), 16, '0')) AS agent_run_span_id,
        o.min_threshold,
        o.flag_threshold,
        -- How old an observed version is nobody saw.
        CASE WHEN o.operation = 'read' AND v.origin = 'written' THEN {{ age('v', 'o') }} END AS age_days,
        CASE WHEN o.operation = 'read' AND v.origin = 'written' THEN {{ freshness(age('v', 'o'), word('v.memory_type')) }} END
            AS freshness,
        CASE WHEN o.operation = 'read' AND o.version_key IS NOT NULL THEN o.earlier_reads END AS earlier_reads,
        -- What follows only findings ask for; but for `counted` it is null where nothing is wrong.
        o.counted,
        CASE WHEN v.origin = 'written' AND v.time_ns > o.time_ns THEN (v.time_ns - o.time_ns) / 1e9 END AS skew_seconds,
        CASE WHEN o.operation = 'read' AND v.confidence_source = 'declared' AND v.declared <> o.confidence THEN v.declared END
            AS contradicted_confidence,
        CASE WHEN o.raw_confidence IS NOT NULL AND o.confidence IS NULL THEN left(o.raw_confidence, 100) END
            AS refused_confidence,
        CASE WHEN coalesce(o.raw_min_threshold, o.raw_flag_threshold) IS NOT NULL THEN
            CASE
                WHEN {{ refused('o') }} THEN {'min_threshold': o.raw_min_threshold, 'flag_threshold': o.raw_flag_threshold}
            END
        END AS refused_thresholds,
        -- What the span itself carries, and what it does not inherit: for the coverage report.
        o.own_agent IS NOT NULL AS has_agent,
        o.own_session IS NOT NULL AS has_session
    FROM operations AS o
{%- if changed %}
    -- Not a semi join, which would be thought to leave many: versions would be hashed, instead of looked up.
    INNER JOIN {{ changed }} AS d ON o.row_id = d.row_id AND o.ordinal = d.ordinal
{%- endif %}
    LEFT JOIN versions AS v ON o.version_key = v.version_key
    LEFT JOIN chains AS c ON v.version_key = c.version_key
)
