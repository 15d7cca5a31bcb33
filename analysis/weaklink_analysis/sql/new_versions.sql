-- Grain: a version that is new, with what its span said of it.
SELECT c.* EXCLUDE (known), o.* EXCLUDE (row_id, ordinal)
FROM changed_versions AS c
INNER JOIN (
    SELECT
        o.row_id, o.ordinal, o.environment, o.service_name, o.memory_id, o.memory_type, o.namespace, o.hedged, o.parent_ids,
        o.content_key
    FROM operations AS o
    SEMI JOIN (SELECT row_id FROM changed_versions WHERE NOT known) AS n ON o.row_id = n.row_id
) AS o ON c.row_id = o.row_id AND c.ordinal = o.ordinal
WHERE NOT c.known
