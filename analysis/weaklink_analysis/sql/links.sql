-- Grain: an affected version and a parent it names, or the version alone if it names none.
-- Of a parent that is not affected itself, the stored numbers hold.
SELECT
    a.version_key AS child_key,
    e.parent_key,
    e.child_key IS NOT NULL AND e.parent_key IS NULL AS unresolved,
    moving.version_key IS NOT NULL AS moving,
    CASE WHEN p.version_key IS NOT NULL THEN
        {'confidence': p.declared, 'hop': 1, 'memory_id': p.memory_id, 'version_key': p.version_key}
    END AS itself,
    c.* EXCLUDE (version_key, above_{{ max_hops }}, unresolved_parents, loops, others)
FROM affected AS a
LEFT JOIN edges AS e ON a.version_key = e.child_key
LEFT JOIN affected AS moving ON e.parent_key = moving.version_key
LEFT JOIN versions AS p ON e.parent_key = p.version_key
LEFT JOIN chains AS c ON e.parent_key = c.version_key AND moving.version_key IS NULL
