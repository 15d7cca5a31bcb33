-- Grain: a version that is new. Parent ids are read for these alone: lists cost as much as all else of a version.
SELECT c.* EXCLUDE (known), o.parent_ids
FROM changed_versions AS c
INNER JOIN (
    SELECT o.row_id, o.ordinal, o.parent_ids
    FROM operations AS o
    SEMI JOIN (SELECT row_id FROM changed_versions WHERE NOT known) AS n ON o.row_id = n.row_id
) AS o ON c.row_id = o.row_id AND c.ordinal = o.ordinal
WHERE NOT c.known
