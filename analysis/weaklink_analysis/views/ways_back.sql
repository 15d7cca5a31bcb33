-- Grain: a derivation whose parent is unresolved or not earlier than the child. There are few.
odd AS (
    SELECT
        child_key, child_id, environment, parent_id, parent_key, oddity, skew_seconds, child_written_at, child_trace_id,
        child_span_id, child_ordinal, child_service_name
    FROM {{ at.derivations }}
    WHERE oddity IS NOT NULL
),
-- Grain: one that may be part of a cycle: there a parent is not earlier than its child, and no chain has an end.
backward AS MATERIALIZED (
    FROM (FROM odd WHERE parent_key IS NOT NULL) AS o
    SEMI JOIN {{ at.endless }} AS e ON o.child_key = e.version_key
),
-- Where there is none, there is no need of the others.
edges AS MATERIALIZED (
    SELECT d.child_key, d.parent_id, d.parent_key
    FROM {{ at.links }} AS d
    CROSS JOIN (SELECT child_key FROM backward LIMIT 1) AS one
    WHERE d.parent_key IS NOT NULL
),
-- Grain: a derivation at most max_hops steps above the child (start) of such a one, by way of that one.
ahead(start, child_key, parent_id, parent_key, hop) AS (
    SELECT child_key, child_key, parent_id, parent_key, 1 FROM backward
    UNION
    SELECT a.start, e.child_key, e.parent_id, e.parent_key, a.hop + 1
    FROM ahead AS a
    INNER JOIN edges AS e ON a.parent_key = e.child_key
    WHERE a.hop < {{ max_hops }}
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
