{%- from 'macros.jinja' import confidence with context -%}
{%- from 'signals.jinja' import word -%}
{%- from 'scoring.jinja' import boost, combined, prior, reliability, strength with context -%}
{%- macro signal(name, said, value, origin="'span'") -%}
CAST(
            {'signal': '{{ name }}', 'said': {{ said }}, 'value': {{ value }}, 'origin': {{ origin }}}
            AS STRUCT(signal VARCHAR, said VARCHAR, "value" DOUBLE, origin VARCHAR)
        )
{%- endmacro -%}
-- Grain: a version that a touched name's write makes, and whose span gives no valid confidence but says from what source the
-- memory came: the confidence derived, and of what. scoring/confidence.py has the formulas.
WITH told AS (
    SELECT w.*, o.signals, o.model, o.memory_type, o.content_key, len(o.parent_ids) > 0 AS derives
    FROM written AS w
    INNER JOIN operations AS o ON w.row_id = o.row_id AND w.ordinal = o.ordinal
),
undeclared AS (
    SELECT
        *,
        list_filter(list_transform(signals.sources, lambda source: {{ strength('source') }}), lambda s: s IS NOT NULL)
            AS strengths,
        CASE
            WHEN len(signals.logprobs) > 0 AND len(signals.logprobs) = len(list_filter(signals.logprobs, lambda p: p <= 0))
                THEN exp(list_sum(signals.logprobs) / len(signals.logprobs))
        END AS probability,
        coalesce(signals.extractor, model) AS extractor,
        {{ reliability('coalesce(signals.extractor, model)') }} AS reliability,
        {{ prior(word('memory_type')) }} AS prior
    FROM told
    WHERE confidence IS NULL AND signals IS NOT NULL
),
-- Every write of one of their contents: on touched names as it is now, on others as it is stored.
writes AS (
    SELECT content_key, time_ns, trace, span, ordinal, derives FROM told
    UNION ALL
    SELECT v.content_key, v.time_ns, v.trace, v.span, v.ordinal, len(v.parent_ids) > 0 AS derives
    FROM versions AS v
    SEMI JOIN undeclared AS u ON v.content_key = u.content_key
    ANTI JOIN touched AS t ON v.name_key = t.name_key
    WHERE v.origin = 'written'
),
-- A span observes once, and not at all what it derives from other memories.
observed AS (
    SELECT
        *,
        NOT derives AND row_number() OVER (PARTITION BY content_key, trace, span, derives ORDER BY ordinal) = 1 AS counts
    FROM writes
    WHERE content_key IN (SELECT content_key FROM undeclared)
),
repeated AS (
    SELECT
        trace,
        span,
        ordinal,
        count(*) FILTER (WHERE counts) OVER (PARTITION BY content_key ORDER BY time_ns, trace, span, ordinal) AS times
    FROM observed
),
terms AS (
    SELECT
        u.*,
        CASE
            WHEN u.signals.confirmed THEN greatest(list_max(u.strengths), {{ scoring.confirmed_source | double }})
            ELSE list_max(u.strengths)
        END AS s,
        coalesce(u.signals.observations, greatest(coalesce(r.times, 1), 1) + len(u.strengths) - 1)
            + CASE WHEN u.signals.confirmed THEN 1 ELSE 0 END AS n,
        coalesce(u.probability, u.reliability, {{ scoring.unknown_extractor | double }}) AS e,
        coalesce(u.prior, {{ scoring.unknown_type | double }}) AS t,
        CASE
            WHEN {{ word('u.signals.grounding') }} = 'partial' THEN {{ scoring.grounding_penalty | double }}
            ELSE {{ confidence('u.signals.grounding') }}
        END AS penalty
    FROM undeclared AS u
    LEFT JOIN repeated AS r ON u.trace = r.trace AND u.span = r.span AND u.ordinal = r.ordinal
    WHERE len(u.strengths) > 0
),
summed AS (
    SELECT *, {{ combined('s', boost('n'), 'e', 't') }} AS evident FROM terms
),
capped AS (
    SELECT
        * REPLACE (
            CASE WHEN signals.confirmed THEN least({{ scoring.confirmation_cap | double }}, evident) ELSE evident END
                AS evident
        )
    FROM summed
),
grounded AS (
    SELECT *, CASE WHEN penalty IS NULL THEN evident ELSE greatest({{ 0.0 | double }}, evident - penalty) END AS confidence
    FROM (SELECT * EXCLUDE (confidence) FROM capped)
)
SELECT
    row_id,
    ordinal,
    confidence,
    list_filter([
        {{ signal('source_strength', "array_to_string(signals.sources, ', ')", 's') }},
        {{ signal('repetition', 'CAST(n AS VARCHAR)', boost('n'),
            "CASE WHEN signals.observations IS NOT NULL THEN 'span' WHEN content_key IS NOT NULL THEN 'writes' ELSE 'default' END") }},
        {{ signal('extractor', "CASE WHEN probability IS NULL THEN extractor ELSE 'logprobs' END", 'e',
            "CASE WHEN probability IS NOT NULL THEN 'span' WHEN reliability IS NULL THEN 'default'"
            ~ " WHEN signals.extractor IS NOT NULL THEN 'span' ELSE 'trace' END") }},
        {{ signal('type_prior', 'memory_type', 't', "CASE WHEN prior IS NULL THEN 'default' ELSE 'span' END") }},
        CASE WHEN signals.confirmed THEN {{ signal('confirmation', "'true'", scoring.confirmation_cap | double) }} END,
        CASE WHEN penalty IS NOT NULL THEN {{ signal('grounding', 'signals.grounding', 'penalty') }} END,
        CASE
            WHEN penalty IS NOT NULL AND confidence < {{ scoring.grounding_floor | double }}
                THEN {{ signal('below_floor', 'NULL', scoring.grounding_floor | double, "'default'") }}
        END
    ], lambda one: one IS NOT NULL) AS confidence_signals
FROM grounded
