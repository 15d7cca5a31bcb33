-- Grain: a span of `asked` that touches a resolved memory. The numbers of the weakest one that it touches.
WITH touching AS (
    SELECT o.trace, o.span, o.ordinal, o.version_key
    FROM operations AS o
    SEMI JOIN asked AS a ON o.trace = a.trace AND o.span = a.span
    WHERE o.version_key IS NOT NULL
),
numbers AS (
{% filter indent(4, first=true) %}{% include "memory_versions.sql" %}{% endfilter %}
)
SELECT
    replace(CAST(t.trace AS VARCHAR), '-', '') AS trace_id,
    lower(lpad(hex(t.span), 16, '0')) AS span_id,
    n.effective_confidence,
    n.confidence_flag,
    n.chain_depth,
    n.chain_min_confidence,
    n.weakest_id
FROM touching AS t
INNER JOIN numbers AS n ON t.version_key = n.version_key
QUALIFY row_number() OVER (PARTITION BY t.trace, t.span ORDER BY n.effective_confidence, t.ordinal) = 1
