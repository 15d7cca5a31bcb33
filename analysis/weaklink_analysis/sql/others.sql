-- Grain: a version that loops, and the lowest confidence among its ancestors but for itself.
WITH RECURSIVE walk AS (
    SELECT version_key, version_key AS at, 0 AS hop FROM looping
    UNION
    SELECT w.version_key, coalesce(e.parent_key, -e.parent_name_key), w.hop + 1
    FROM walk AS w
    INNER JOIN edges AS e ON w.at = e.child_key
    WHERE w.hop < {{ max_hops }}
)
SELECT w.version_key, min(CASE WHEN w.at < 0 THEN {{ 'NULL' if stand_in is none else stand_in | double }} ELSE v.declared END) AS others
FROM walk AS w
LEFT JOIN versions AS v ON w.at = v.version_key
WHERE w.at <> w.version_key
GROUP BY w.version_key
