-- Grain: an affected version and a parent it names. Below 1: unresolved.
SELECT e.child_key, coalesce(e.parent_key, {{ '-e.parent_name_key' if stand_in is not none else 0 }}) AS parent_key
FROM edges AS e
{%- if changed %}
SEMI JOIN {{ changed }} AS a ON e.child_key = a.version_key
{%- endif %}
