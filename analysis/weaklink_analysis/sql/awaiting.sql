-- Grain: a trace to judge, and when its last span arrived. What changed from another trace is due at once.
WITH arrived AS (
    SELECT trace, max(arrived_at) AS last_arrival FROM fresh GROUP BY trace
)
SELECT trace, max(last_arrival) AS last_arrival
FROM (
    FROM arrived SEMI JOIN named_operations USING (trace)
    UNION ALL
    -- A trace that had none in this batch may have had some before.
    SELECT a.*
    FROM (FROM arrived ANTI JOIN named_operations USING (trace)) AS a
    SEMI JOIN (SELECT trace FROM operations UNION ALL SELECT trace FROM marks WHERE decision IS NOT NULL) AS m
        ON a.trace = m.trace
    UNION ALL
    SELECT trace, TIMESTAMPTZ '1970-01-01 00:00:00+00'
    FROM (
        SELECT trace FROM changed_memory_operations
        UNION ALL
        SELECT trace FROM removed_operations
        UNION ALL
        SELECT v.trace FROM versions AS v SEMI JOIN reparented AS r ON v.version_key = r.child_key
        UNION ALL
        SELECT c.trace
        FROM citations AS c
        SEMI JOIN (
            SELECT name_key FROM touched
            UNION ALL
            SELECT v.name_key FROM versions AS v SEMI JOIN changed_memory_versions AS c ON v.version_key = c.version_key
        ) AS t ON c.name_key = t.name_key
        {%- if weighed %}
        UNION ALL
        -- Findings may change where no number does: a cycle closes, or another environment gets to know a parent.
        SELECT v.trace FROM versions AS v SEMI JOIN affected AS a ON v.version_key = a.version_key
        UNION ALL
        SELECT v.trace
        FROM edges AS e
        INNER JOIN names AS n ON e.parent_name_key = n.name_key
        INNER JOIN versions AS v ON e.child_key = v.version_key
        WHERE
            e.parent_key IS NULL
            AND n.memory_id IN (SELECT k.memory_id FROM names AS k SEMI JOIN touched AS t ON k.name_key = t.name_key)
        {%- endif %}
        UNION ALL
        SELECT trace FROM superseded WHERE trace IN (SELECT trace FROM evaluations)
    )
)
GROUP BY trace
