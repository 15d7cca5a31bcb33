-- Grain: a service, an environment, a convention, an operation and a gap: what records of such spans lack.
-- `total` ought to carry it, `lacking` do not. Of these weaklink knows it of `known` from elsewhere; `open` are to be mended.
WITH first_reads AS (
    SELECT trace_id, agent_run_span_id AS run, min(end_time) AS first_read
    FROM lake.memory_operations
    -- A search that found nothing gives nothing to derive from.
    WHERE operation = 'read' AND (counted OR memory_id IS NOT NULL)
    GROUP BY ALL
),
-- Grain: a span with links derived_from: what each of them names, '' for nothing.
linking AS (
    SELECT
        trace_id,
        span_id,
        list_transform(
            list_filter(links, lambda link: link.attributes['memory.link'] = 'derived_from'),
            lambda link: replace(coalesce(link.attributes['memory.id'], ''), '[]', '')
        ) AS parent_links
    FROM spans
    WHERE len(links) > 0 AND {% include 'selected.jinja' %}
),
asked AS (
    SELECT o.*, l.parent_links, coalesce(r.first_read <= o.start_time, FALSE) AS after_read
    FROM lake.memory_operations AS o
    LEFT JOIN first_reads AS r ON o.trace_id = r.trace_id AND o.agent_run_span_id IS NOT DISTINCT FROM r.run
    LEFT JOIN linking AS l ON o.trace_id = l.trace_id AND o.span_id = l.span_id
    WHERE o.counted AND {% include 'selected.jinja' %}
),
judged AS (
    {%- for gap in gaps %}
    SELECT
        {{ loop.index0 }} AS place, service_name, environment, convention, operation, trace_id, span_id, start_time,
        {{ gap.missing }} AS lacks, {{ gap.known }} AS known
    FROM asked
    WHERE operation IN ('{{ gap.operations | join("', '") }}') AND ({{ gap.of }})
    {%- if not loop.last %}
    UNION ALL
    {%- endif %}
    {%- endfor %}
),
gaps(place, gap, known_suffices) AS (
    VALUES
    {%- for gap in gaps %}
    ({{ loop.index0 }}, '{{ gap.code }}', {{ gap.known_suffices | upper }}){{ '' if loop.last else ',' }}
    {%- endfor %}
),
fails(place, name) AS (
    VALUES
    {%- for gap in gaps %}
    {%- set place = loop.index0 %}
    {%- for name in gap.fails %}
    ({{ place }}, '{{ name }}'),
    {%- endfor %}
    {%- endfor %}
    (-1, '')
),
lacking AS (
    SELECT j.* EXCLUDE (lacks), NOT (g.known_suffices AND j.known) AS open, g.gap
    FROM judged AS j
    INNER JOIN gaps AS g ON j.place = g.place
    WHERE j.lacks
),
-- Grain: a trace and a check of it, or of a decision in it, that failed.
failed AS (
    SELECT trace_id, check_name AS name FROM evaluation_checks WHERE NOT passed AND scope <> 'session'
    UNION
    SELECT trace_id, '{{ without_score }}' FROM decisions WHERE len(memory_ids) = 0
),
failing AS (
    SELECT place, service_name, environment, convention, operation, list({'check': name, 'traces': traces} ORDER BY name) AS failing
    FROM (
        SELECT l.place, l.service_name, l.environment, l.convention, l.operation, f.name, count(DISTINCT l.trace_id) AS traces
        FROM lacking AS l
        INNER JOIN fails AS f ON l.place = f.place
        INNER JOIN failed AS t ON l.trace_id = t.trace_id AND f.name = t.name
        WHERE l.open
        GROUP BY ALL
    )
    GROUP BY ALL
),
totals AS (
    SELECT place, service_name, environment, convention, operation, count(*) AS total FROM judged GROUP BY ALL
),
counts AS (
    SELECT
        place, service_name, environment, convention, operation, gap, count(*) AS lacking,
        count(*) FILTER (known) AS known, count(*) FILTER (open) AS open, count(DISTINCT trace_id) AS traces,
        min_by({'trace_id': trace_id, 'span_id': span_id}, (NOT open, start_time, trace_id, span_id)) AS example
    FROM lacking
    GROUP BY ALL
)
SELECT
    c.place, c.service_name, c.environment, c.convention, c.operation, c.gap, t.total, c.lacking, c.known, c.open, c.traces,
    c.example.trace_id, c.example.span_id, coalesce(f.failing, []) AS failing
FROM counts AS c
INNER JOIN totals AS t USING (place, service_name, environment, convention, operation)
LEFT JOIN failing AS f USING (place, service_name, environment, convention, operation)
ORDER BY c.service_name, c.environment, c.convention, c.place, c.operation DESC
