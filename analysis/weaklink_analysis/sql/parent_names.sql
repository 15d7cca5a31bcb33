-- Grain: a new version and a parent id it names.
SELECT
    version_key, name_key, environment, named_store, store, time_ns, version, parent_id,
    hash(environment, parent_id) AS hash
FROM (SELECT *, unnest(list_distinct(parent_ids)) AS parent_id FROM new_versions)
