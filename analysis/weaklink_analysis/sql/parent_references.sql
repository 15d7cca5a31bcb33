-- Grain: a child version and a parent id it names, to be resolved again:
-- those of changed versions, and those that name a touched memory.
WITH named AS (
    SELECT *, {{ name_hash('environment', 'parent_id') }} AS hash
    FROM (SELECT *, unnest(list_distinct(parent_ids)) AS parent_id FROM changed_versions)
),
found AS (
    SELECT n.* FROM names AS n SEMI JOIN named AS c ON n.hash = c.hash
)
SELECT
    c.version_key AS a,
    n.name_key AS b,
    n.name_key,
    c.named_store AS store,
    c.time_ns,
    CASE WHEN n.name_key = c.name_key THEN c.version END AS own_version,
    c.store AS own_store
FROM named AS c
INNER JOIN found AS n ON c.environment = n.environment AND c.parent_id = n.memory_id
UNION ALL
SELECT
    e.child_key,
    e.parent_name_key,
    e.parent_name_key,
    v.named_store,
    v.time_ns,
    CASE WHEN e.parent_name_key = v.name_key THEN v.version END,
    v.store
FROM edges AS e
SEMI JOIN touched AS t ON e.parent_name_key = t.name_key
ANTI JOIN changed_versions AS c ON e.child_key = c.version_key
INNER JOIN versions AS v ON e.child_key = v.version_key
