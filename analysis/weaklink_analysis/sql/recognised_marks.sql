{%- from 'macros.jinja' import ids -%}
-- Grain: an incoming span that runs an agent, decides explicitly, names memories that it relied on, or calls a model.
SELECT
    row_id AS at,
    is_run,
    decision,
    coalesce(store, '') AS store,
    list_distinct({{ ids('relied_on') }}) AS relied_on,
    model
FROM contexts
WHERE is_run OR decision IS NOT NULL OR relied_on IS NOT NULL OR model IS NOT NULL
