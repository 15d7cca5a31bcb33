{%- macro rounded(seconds) -%}CAST(format('{:.6f}', {{ seconds }}) AS DOUBLE){%- endmacro -%}
{%- from 'finding_codes.jinja' import about_span, finding_codes with context -%}
-- Grain: a code, a span and a memory (null: it is about the span). Of several records, the first counts.
WITH RECURSIVE operations AS NOT MATERIALIZED (
    SELECT *, happened_at AS "time" FROM {{ at.operations }}
),
versions AS NOT MATERIALIZED (
    SELECT *, span_ordinal AS ordinal, written_at AS "time" FROM {{ at.versions }}
),
-- Grain: a memory that a decision names and nothing in its trace read; null: the decision relied on none.
decisions AS NOT MATERIALIZED (
    SELECT
        * EXCLUDE (finding_codes),
        CASE WHEN cited IS NULL THEN 'decision_without_memory' ELSE 'decision_cites_unread' END AS finding_codes,
        cited.memory_id AS memory_id,
        cited.version AS version,
        0 AS ordinal,
        start_time AS "time"
    FROM (
        SELECT *, unnest(list_concat(unread, CASE WHEN len(memory_ids) = 0 THEN [NULL] END)) AS cited
        FROM {{ at.decisions }}
        WHERE finding_codes IS NOT NULL
    )
),
{% include 'ways_back.sql' %},
-- Grain: something that is wrong with a parent that a version names.
faults AS (
    SELECT
        o.child_key, o.environment, o.child_id, o.child_written_at, o.child_trace_id, o.child_span_id, o.child_ordinal,
        o.child_service_name, o.parent_id,
        CASE
            WHEN o.oddity = 'late' THEN 'late'
            WHEN o.oddity = 'own' THEN 'cyclic'
            WHEN v.version IS NULL THEN 'unknown'
            ELSE 'foreign'
        END AS fault,
        o.skew_seconds AS seconds,
        v.environment AS elsewhere,
        1 AS length
    FROM odd AS o
    -- By one key first, by which rows are filtered where they are read.
    LEFT JOIN (FROM {{ at.known }} SEMI JOIN (SELECT parent_id AS memory_id FROM odd) USING (memory_id)) AS v
        ON o.parent_id = v.memory_id AND o.environment <> v.environment AND o.oddity = 'unresolved' AND v.version = 1
    WHERE o.oddity <> 'not_earlier'
    UNION ALL
    SELECT
        v.version_key, v.environment, v.memory_id, v.written_at, v.trace_id, v.span_id, v.span_ordinal, v.service_name,
        w.parent_id, 'cyclic', NULL, NULL, w.hop
    FROM ways_back AS w
    -- Where there is no cycle, versions are not looked at.
    INNER JOIN (FROM {{ at.versions }} CROSS JOIN (SELECT hop FROM ways_back LIMIT 1) AS one) AS v ON w.child_key = v.version_key
),
-- Grain: a version that has such parents.
faulty AS (
    SELECT
        environment,
        child_id AS memory_id,
        child_written_at AS "time",
        child_trace_id AS trace_id,
        child_span_id AS span_id,
        child_ordinal AS ordinal,
        child_service_name AS service_name,
        {%- for fault in ('unknown', 'foreign', 'cyclic', 'late') %}
        list_sort(list_distinct(list(parent_id) FILTER (fault = '{{ fault }}'))) AS {{ fault }}_ids,
        {%- endfor %}
        list_sort(list_distinct(list(elsewhere) FILTER (fault = 'foreign'))) AS environments,
        min(length) FILTER (fault = 'cyclic') AS length,
        max(seconds) FILTER (fault = 'late') AS late_seconds
    FROM faults
    GROUP BY
        child_key, environment, child_id, child_written_at, child_trace_id, child_span_id, child_ordinal, child_service_name
),
found AS (
    {%- for source, codes in finding_codes.items() %}
    SELECT
        code,
        trace_id,
        span_id,
        ordinal,
        CASE WHEN code NOT IN ('{{ about_span | join("', '") }}') THEN memory_id END AS memory_id,
        environment,
        service_name,
        "time",
        CASE code
            {%- for code, finding in codes.items() %}
            WHEN '{{ code }}' THEN json_object(
                {%- for key, column in finding.detail.items() %}'{{ key }}', {{ column }}{{ '' if loop.last else ', ' }}
                {%- endfor -%}
            )
            {%- endfor %}
        END AS detail
    {%- if source == 'faulty' %}
    FROM (
        SELECT
            *,
            unnest([
                {%- for code, finding in codes.items() %}
                CASE WHEN {{ finding.when }} THEN '{{ code }}' END{{ '' if loop.last else ',' }}
                {%- endfor %}
            ]) AS code
        FROM faulty
    )
    {%- else %}
    FROM (SELECT *, unnest(string_split(finding_codes, ',')) AS code FROM {{ source }} WHERE finding_codes IS NOT NULL)
    {%- endif %}
    WHERE code IN ('{{ codes | join("', '") }}')
    {%- if not loop.last %}
    UNION ALL
    {%- endif %}
    {%- endfor %}
)
SELECT
    code,
    CASE code
        {%- for codes in finding_codes.values() %}
        {%- for code, finding in codes.items() %}
        WHEN '{{ code }}' THEN '{{ finding.severity }}'
        {%- endfor %}
        {%- endfor %}
    END AS severity,
    trace_id,
    span_id,
    memory_id,
    environment,
    service_name,
    "time",
    arg_min(detail, ordinal) AS detail
FROM found
GROUP BY code, trace_id, span_id, memory_id, environment, service_name, "time"
