-- Grain: an affected version whose chain numbers differ from what is stored.
-- The weakest within h hops is the minimum, over the parents, of the parent itself and its weakest within h - 1 hops; the
-- longest chain is one longer than the longest of a parent's. So each step needs only the step before it.
WITH step_1 AS (
    SELECT
        child_key AS version_key,
        min(itself) AS above,
        CAST(count(itself) > 0 AS INTEGER) AS chain_depth,
        CASE WHEN bool_or(unresolved) THEN 0 ELSE {{ max_hops }} END AS gap,
        CAST(count_if(unresolved) AS INTEGER) AS unresolved_parents
    FROM links
    GROUP BY child_key
),
{%- for h in range(2, max_hops + 2) %}
step_{{ h }} AS (
    SELECT
        l.child_key AS version_key,
        {%- if h <= max_hops %}
        min(least(l.itself, CASE WHEN coalesce(s.above, l.above_{{ h - 1 }}) IS NOT NULL THEN
            {
                'confidence': coalesce(s.above, l.above_{{ h - 1 }}).confidence,
                'hop': coalesce(s.above, l.above_{{ h - 1 }}).hop + 1,
                'memory_id': coalesce(s.above, l.above_{{ h - 1 }}).memory_id,
                'version_key': coalesce(s.above, l.above_{{ h - 1 }}).version_key
            }
        END)) AS above,
        {%- endif %}
        max(CASE
            WHEN l.parent_key IS NULL THEN 0
            ELSE least({{ h }}, 1 + coalesce(s.chain_depth, l.chain_depth))
        END) AS chain_depth,
        CASE
            WHEN bool_or(l.unresolved) THEN 0
            ELSE least({{ max_hops }}, coalesce(min(1 + coalesce(s.gap, l.gap)), {{ max_hops }}))
        END AS gap
    FROM links AS l
    LEFT JOIN step_{{ h - 1 }} AS s ON l.moving AND l.parent_key = s.version_key
    GROUP BY l.child_key
),
{%- endfor %}
computed AS (
    SELECT
        step_1.version_key,
        {%- for h in hops %}
        step_{{ h }}.above AS above_{{ h }},
        {%- endfor %}
        CAST(step_{{ max_hops + 1 }}.chain_depth AS INTEGER) AS chain_depth,
        step_1.unresolved_parents,
        CAST(step_{{ max_hops + 1 }}.gap AS INTEGER) AS gap,
        coalesce(step_{{ max_hops }}.above.version_key = step_1.version_key, FALSE) AS loops
    FROM step_1
    {%- for h in range(2, max_hops + 2) %}
    INNER JOIN step_{{ h }} ON step_1.version_key = step_{{ h }}.version_key
    {%- endfor %}
)
SELECT n.*
FROM computed AS n
LEFT JOIN chains AS c ON n.version_key = c.version_key
WHERE
    c.version_key IS NULL
    OR n.chain_depth <> c.chain_depth
    OR n.unresolved_parents <> c.unresolved_parents
    OR n.gap <> c.gap
    {%- for h in hops %}
    OR n.above_{{ h }} IS DISTINCT FROM c.above_{{ h }}
    {%- endfor %}
