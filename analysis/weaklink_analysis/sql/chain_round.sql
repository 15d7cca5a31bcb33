-- Grain: a version of the frontier whose chain numbers differ from what is stored, computed from its direct parents:
-- weakest within h hops = min over parents of min(the parent itself, its weakest within h - 1 hops).
WITH parents AS (
    SELECT
        f.version_key AS child_key,
        e.parent_key IS NULL AND e.child_key IS NOT NULL AS unresolved,
        CASE WHEN p.version_key IS NOT NULL THEN
            {'confidence': p.declared, 'hop': 1, 'memory_id': p.memory_id, 'version_key': p.version_key}
        END AS itself,
        c.* EXCLUDE (version_key)
    FROM frontier AS f
    LEFT JOIN edges AS e ON f.version_key = e.child_key
    LEFT JOIN versions AS p ON e.parent_key = p.version_key
    LEFT JOIN chains AS c ON p.version_key = c.version_key
),
computed AS (
    SELECT
        child_key AS version_key,
        min(itself) AS above_1,
        {%- for h in hops[1:] %}
        min(least(itself, CASE WHEN above_{{ h - 1 }} IS NOT NULL THEN
            {
                'confidence': above_{{ h - 1 }}.confidence, 'hop': above_{{ h - 1 }}.hop + 1,
                'memory_id': above_{{ h - 1 }}.memory_id, 'version_key': above_{{ h - 1 }}.version_key
            }
        END)) AS above_{{ h }},
        {%- endfor %}
        CAST(least({{ max_hops + 1 }}, coalesce(
            max(CASE WHEN itself IS NOT NULL THEN 1 + coalesce(chain_depth, 0) END), 0
        )) AS INTEGER) AS chain_depth,
        CAST(count_if(unresolved) AS INTEGER) AS unresolved_parents,
        CAST(CASE
            WHEN bool_or(unresolved) THEN 0
            ELSE least({{ max_hops }}, coalesce(min(1 + gap), {{ max_hops }}))
        END AS INTEGER) AS gap
    FROM parents
    GROUP BY child_key
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
