{%- macro rounded(seconds) -%}CAST(format('{:.6f}', {{ seconds }}) AS DOUBLE){%- endmacro -%}
{%- from 'finding_codes.jinja' import about_span, finding_codes with context -%}
-- Grain: a code, a span and a memory (null: it is about the span). Of several records, the first counts.
WITH RECURSIVE operations AS NOT MATERIALIZED (
    SELECT *, happened_at AS "time" FROM {{ at.operations }}
),
{% include 'ways_back.sql' %},
-- Grain: something that is wrong with a parent that a version names.
faults AS (
    SELECT child_key, parent_id, 'late' AS fault, skew_seconds AS seconds, NULL AS environment, NULL AS length
    FROM odd
    WHERE oddity = 'late'
    UNION ALL
    SELECT
        o.child_key,
        o.parent_id,
        CASE WHEN o.parent_id = o.child_id THEN 'cyclic' WHEN v.version IS NULL THEN 'unknown' ELSE 'foreign' END,
        NULL,
        v.environment,
        1
    FROM odd AS o
    -- By one key first, by which rows are filtered where they are read.
    LEFT JOIN (FROM {{ at.known }} SEMI JOIN (SELECT parent_id AS memory_id FROM odd) USING (memory_id)) AS v
        ON o.parent_id = v.memory_id AND o.environment <> v.environment AND o.parent_id <> o.child_id AND v.version = 1
    WHERE o.oddity = 'unresolved'
    UNION ALL
    SELECT child_key, parent_id, 'cyclic', NULL, NULL, hop FROM ways_back
),
-- Grain: a version that has such parents.
faulty AS (
    SELECT
        child_key AS version_key,
        {%- for fault in ('unknown', 'foreign', 'cyclic', 'late') %}
        list_sort(list_distinct(list(parent_id) FILTER (fault = '{{ fault }}'))) AS {{ fault }}_ids,
        {%- endfor %}
        list_sort(list_distinct(list(environment) FILTER (fault = 'foreign'))) AS environments,
        min(length) FILTER (fault = 'cyclic') AS length,
        max(seconds) AS late_seconds
    FROM faults
    GROUP BY child_key
),
versions AS (
    SELECT v.*, v.span_ordinal AS ordinal, v.written_at AS "time", f.* EXCLUDE (version_key)
    FROM {{ at.versions }} AS v
    LEFT JOIN faulty AS f ON v.version_key = f.version_key
),
-- Grain: a memory that a decision names and nothing in its trace read; null: the decision relied on none.
decisions AS (
    SELECT *, cited.memory_id AS memory_id, cited.version AS version, 0 AS ordinal, start_time AS "time"
    FROM (
        SELECT *, unnest(list_concat(unread, CASE WHEN len(memory_ids) = 0 THEN [NULL] END)) AS cited
        FROM {{ at.decisions }}
        WHERE len(memory_ids) = 0 OR len(unread) > 0
    )
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
    FROM (
        SELECT
            *,
            unnest([
                {%- for code, finding in codes.items() %}
                CASE WHEN {{ finding.when }} THEN '{{ code }}' END{{ '' if loop.last else ',' }}
                {%- endfor %}
            ]) AS code
        FROM {{ source }}
        WHERE
            {%- for finding in codes.values() %}
            {{ '' if loop.first else 'OR ' }}({{ finding.when }})
            {%- endfor %}
    )
    WHERE code IS NOT NULL
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
