-- Grain: an affected version, a parent of one, or who is the weakest above such a parent.
-- Also what stands for unresolved parents, below 1.
SELECT 0 AS version_key, NULL AS memory_id, NULL AS declared, FALSE AS affected
UNION ALL
{%- if changed %}
SELECT v.version_key, v.memory_id, v.declared, a.version_key IS NOT NULL AS affected
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
SELECT version_key, memory_id, declared, TRUE AS affected FROM versions
{%- endif %}
{%- if stand_in is not none %}
UNION ALL
SELECT -n.name_key, n.memory_id, {{ stand_in | double }}, FALSE
FROM names AS n
SEMI JOIN (
{%- if changed %}
    SELECT parent_key AS key FROM links
    UNION ALL
    SELECT unnest([{% for h in hops %}at_{{ h }}{{ '' if loop.last else ', ' }}{% endfor %}]) FROM standing
{%- else %}
    SELECT -parent_name_key AS key FROM edges WHERE parent_key IS NULL
{%- endif %}
) AS u ON n.name_key = -u.key
{%- endif %}
