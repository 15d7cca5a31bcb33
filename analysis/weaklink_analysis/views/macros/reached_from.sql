{%- from 'walk.jinja' import walk -%}
-- Grain: a version that is one of these keys (hop 0), or that was derived from one, at its fewest hops.
{{ walk('parent_key', 'child_key') }}
