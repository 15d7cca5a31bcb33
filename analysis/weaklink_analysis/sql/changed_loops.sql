-- Grain: a version that loops, whose lowest ancestor but for itself differs from what is stored.
WITH RECURSIVE walk AS (
    SELECT c.version_key, e.parent_key AS at, 1 AS hop
    FROM chains AS c
    INNER JOIN edges AS e ON c.version_key = e.child_key
    WHERE c.loops AND e.parent_key IS NOT NULL
    UNION
    SELECT w.version_key, e.parent_key, w.hop + 1
    FROM walk AS w
    INNER JOIN edges AS e ON w.at = e.child_key
    WHERE w.hop < {{ max_hops }} AND e.parent_key IS NOT NULL
),
lowest AS (
    SELECT w.version_key, min(v.declared) AS others
    FROM walk AS w
    INNER JOIN versions AS v ON w.at = v.version_key
    WHERE w.at <> w.version_key
    GROUP BY w.version_key
)
SELECT c.version_key, l.others
FROM chains AS c
LEFT JOIN lowest AS l ON c.version_key = l.version_key
WHERE c.loops AND c.others IS DISTINCT FROM l.others
