{%- from 'walk.jinja' import walk -%}
-- Grain: a version that is one of these keys (hop 0), or that one was derived from, at its fewest hops.
{{ walk('child_key', 'parent_key') }}
