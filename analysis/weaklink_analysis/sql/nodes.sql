-- Grain: an affected version, a parent of one, or who is the weakest above such a parent; in order of memory ids.
-- Also what stands for unresolved parents, below 1.
SELECT version_key, declared, affected
FROM (
{%- if changed %}
    SELECT v.version_key, v.declared, v.memory_id, a.version_key IS NOT NULL AS affected
    FROM versions AS v
    SEMI JOIN (
        FROM {{ changed }}
        UNION ALL
        SELECT parent_key FROM links
        UNION ALL
        SELECT unnest([{% for h in hops %}at_{{ h }}{{ '' if loop.last else ', ' }}{% endfor %}]) FROM standing
    ) AS n ON v.version_key = n.version_key
    LEFT JOIN {{ changed }} AS a ON v.version_key = a.version_key
{%- else %}
    SELECT version_key, declared, memory_id, TRUE AS affected FROM versions
{%- endif %}
    UNION ALL
    SELECT 0, NULL, NULL, FALSE
{%- if stand_in is not none %}
    UNION ALL
    SELECT -n.name_key, {{ stand_in | double }}, n.memory_id, FALSE
    FROM names AS n
    SEMI JOIN (
        SELECT parent_key AS key FROM links
        UNION ALL
        SELECT unnest([{% for h in hops %}at_{{ h }}{{ '' if loop.last else ', ' }}{% endfor %}]) FROM standing
    ) AS u ON n.name_key = -u.key
{%- endif %}
)
ORDER BY memory_id
