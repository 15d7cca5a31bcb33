-- Grain: a child version and a parent it names. The lake's rows for the view of this name.
SELECT
    e.child_key,
    e.parent_name_key,
    e.parent_key,
    child.environment,
    child.store,
    child.memory_id AS child_id,
    child.version AS child_version,
    n.memory_id AS parent_id,
    parent.store AS parent_store,
    parent.version AS parent_version,
    child.declared AS child_confidence,
    parent.declared AS parent_confidence,
    -- What follows only findings ask for. Hardly any parent is not earlier than its child; on each cycle one is.
    CASE
        WHEN e.parent_key IS NULL THEN CASE WHEN n.memory_id = child.memory_id THEN 'own' ELSE 'unresolved' END
        WHEN e.skewed THEN 'late'
        WHEN parent.time_ns >= child.time_ns THEN 'not_earlier'
    END AS oddity,
    CASE WHEN e.skewed THEN (parent.time_ns - child.time_ns) / 1e9 END AS skew_seconds,
    {%- for column, value in {
        'child_written_at': time('child.time_ns'),
        'child_trace_id': "replace(CAST(child.trace AS VARCHAR), '-', '')",
        'child_span_id': "lower(lpad(hex(child.span), 16, '0'))",
        'child_ordinal': 'child.ordinal',
        'child_service_name': 'child.service_name',
    }.items() %}
    CASE WHEN oddity IS NOT NULL THEN {{ value }} END AS {{ column }}{{ '' if loop.last else ',' }}
    {%- endfor %}
FROM edges AS e
{%- if changed %}
SEMI JOIN {{ changed }} AS d ON e.child_key = d.child_key AND e.parent_name_key = d.parent_name_key
{%- endif %}
INNER JOIN versions AS child ON e.child_key = child.version_key
INNER JOIN names AS n ON e.parent_name_key = n.name_key
LEFT JOIN versions AS parent ON e.parent_key = parent.version_key
