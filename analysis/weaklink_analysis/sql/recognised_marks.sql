{%- from 'macros.jinja' import ids, linked_ids -%}
-- Grain: an incoming span that runs an agent, decides explicitly, or names memories that it relied on,
-- as an attribute or by links.
SELECT
    c.row_id AS at,
    c.is_run,
    c.decision,
    coalesce(c.store, '') AS store,
    list_distinct(
        {%- if linked %}
        list_concat({{ ids('c.relied_on') }}, l.ids)
        {%- else %}
        {{ ids('c.relied_on') }}
        {%- endif %}
    ) AS relied_on
FROM contexts AS c
{%- if linked %}
LEFT JOIN ({{ linked_ids('relied_on') }}) AS l ON c.row_id = l.row_id
{%- endif %}
WHERE c.is_run OR c.decision IS NOT NULL OR c.relied_on IS NOT NULL{% if linked %} OR l.ids IS NOT NULL{% endif %}
