-- Grain: an ancestor `reached` of a version that has a parent which is not earlier than it, as one on every cycle has.
ahead(start, reached, hop) AS (
    SELECT child_key, parent_key, 1 FROM lake.derivations WHERE lead_seconds IS NOT NULL
    UNION
    SELECT a.start, d.parent_key, a.hop + 1
    FROM ahead AS a
    INNER JOIN lake.derivations AS d ON a.reached = d.child_key
    WHERE a.hop < {{ max_hops }} AND d.parent_key IS NOT NULL
),
-- Grain: an ancestor of a version that may be on a cycle, and the parent through which it is reached.
around(child_key, parent_id, reached, hop) AS (
    SELECT d.child_key, d.parent_id, d.parent_key, 1
    FROM lake.derivations AS d
    WHERE
        d.parent_key IS NOT NULL
        AND d.child_key IN (SELECT reached FROM ahead WHERE start IN (SELECT start FROM ahead WHERE start = reached))
    UNION
    SELECT w.child_key, w.parent_id, d.parent_key, w.hop + 1
    FROM around AS w
    INNER JOIN lake.derivations AS d ON w.reached = d.child_key
    WHERE w.hop < {{ max_hops }} AND d.parent_key IS NOT NULL
),
-- Grain: a version and a parent from which it is reached again, at its fewest hops.
ways_back AS (
    SELECT child_key, parent_id, min(hop) AS hop FROM around WHERE reached = child_key GROUP BY child_key, parent_id
)
