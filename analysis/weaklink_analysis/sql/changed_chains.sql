-- Grain: an affected version whose chain numbers differ from what is stored.
WITH n AS (
{% filter indent(4, first=true) %}{% include "computed_chains.sql" %}{% endfilter %}
)
SELECT n.*
FROM n
LEFT JOIN known_chains AS c ON n.version_key = c.version_key
WHERE
    c.version_key IS NULL
    OR n.chain_depth <> c.chain_depth
    OR n.unresolved_parents <> c.unresolved_parents
    OR n.gap <> c.gap
    OR n.loops <> c.loops
    OR n.others IS DISTINCT FROM c.others
    {%- for h in hops %}
    OR (n.low_{{ h }}, n.at_{{ h }}) IS DISTINCT FROM (c.low_{{ h }}, c.at_{{ h }})
    {%- endfor %}
