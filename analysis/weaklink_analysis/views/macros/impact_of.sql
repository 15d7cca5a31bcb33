-- Grain: something that stands on the memory, at its fewest hops: see lake.standing_on.
WITH own AS (
    SELECT list(version_key) AS every FROM lake.versions_of(id, environment, store)
),
reached AS (
    SELECT list(r) AS rows FROM lake.reached_from((SELECT own.every FROM own)) AS r
)
FROM lake.standing_on((SELECT reached.rows FROM reached), 0, 9223372036854775807)
