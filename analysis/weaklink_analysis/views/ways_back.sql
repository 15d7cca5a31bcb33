-- Grain: a derivation at most max_hops steps above a version (start) that has a parent which is not earlier than it.
-- On every cycle there is such a version, elsewhere hardly ever.
ahead(start, child_key, parent_id, parent_key, hop) AS (
    SELECT child_key, child_key, parent_id, parent_key, 1 FROM lake.derivations WHERE lead_seconds IS NOT NULL
    UNION
    SELECT a.start, d.child_key, d.parent_id, d.parent_key, a.hop + 1
    FROM ahead AS a
    INNER JOIN lake.derivations AS d ON a.parent_key = d.child_key
    WHERE a.hop < {{ max_hops }} AND d.parent_key IS NOT NULL
),
-- Grain: a derivation that may be part of a cycle.
curved AS (
    SELECT DISTINCT child_key, parent_id, parent_key
    FROM ahead
    WHERE start IN (SELECT start FROM ahead WHERE start = parent_key)
),
-- Grain: a version, a parent of it, and an ancestor (reached) by way of that one.
around(child_key, parent_id, reached, hop) AS (
    SELECT child_key, parent_id, parent_key, 1 FROM curved
    UNION
    SELECT w.child_key, w.parent_id, c.parent_key, w.hop + 1
    FROM around AS w
    INNER JOIN curved AS c ON w.reached = c.child_key
    WHERE w.hop < {{ max_hops }}
),
-- Grain: a version and a parent from which it is reached again, at its fewest hops.
ways_back AS (
    SELECT child_key, parent_id, min(hop) AS hop FROM around WHERE reached = child_key GROUP BY child_key, parent_id
)
