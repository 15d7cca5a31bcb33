{%- macro place(o) -%}
{'time_ns': {{ o }}.time_ns, 'trace': {{ o }}.trace, 'span': {{ o }}.span, 'ordinal': {{ o }}.ordinal}
{%- endmacro -%}
-- Grain: a memory id whose reads may count anew after this batch, from the earliest of them on that came, went, or means
-- another memory than before.
SELECT name_key, min(since) AS since
FROM (
    SELECT o.name_key, {{ place('o') }} AS since
    FROM operations AS o
    SEMI JOIN changed_resolutions AS c ON o.row_id = c.row_id AND o.ordinal = c.ordinal
    WHERE o.operation = 'read'
    UNION ALL
    SELECT o.name_key, {{ place('o') }}
    FROM operations AS o
    SEMI JOIN (FROM inherited WHERE kind = 'get') AS i ON o.row_id = i.row_id AND o.ordinal = i.ordinal
    UNION ALL
    SELECT r.name_key, {{ place('r') }} FROM removed_operations AS r WHERE r.kind IN ('read', 'get')
    UNION ALL
    SELECT c.name_key, {'time_ns': 0, 'trace': CAST('00000000-0000-0000-0000-000000000000' AS UUID), 'span': 0, 'ordinal': 0}
    FROM changed_versions AS c
    INNER JOIN known_versions AS k ON c.version_key = k.version_key
    WHERE c.store <> k.store
)
WHERE name_key IS NOT NULL
GROUP BY name_key
