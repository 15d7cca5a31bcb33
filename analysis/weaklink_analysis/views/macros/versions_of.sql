-- Grain: a version of the one memory that is meant; none where the id is unknown.
WITH found AS (
    SELECT v.version_key, v.version, v.environment, v.store
    FROM lake.memory_versions AS v
    WHERE
        v.memory_id = id
        AND (environment IS NULL OR v.environment = environment)
        AND (store IS NULL OR v.store = store)
),
choices AS (
    SELECT count(*) AS number, string_agg(c.choice, '; ' ORDER BY c.choice) AS list
    FROM (
        SELECT DISTINCT
            format(
                'environment := ''{}'', store := ''{}''',
                replace(f.environment, '''', ''''''),
                replace(f.store, '''', '''''')
            ) AS choice
        FROM found AS f
    ) AS c
)
SELECT f.version_key, f.version
FROM found AS f
CROSS JOIN choices AS c
WHERE CASE WHEN c.number > 1 THEN error(format('{} means {} memories; pick one: {}', id, c.number, c.list)) ELSE true END
