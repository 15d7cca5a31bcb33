-- Grain: something that stands on the memory, at its fewest hops: see lake.standing_on.
WITH own AS (
    SELECT list(version_key) AS every FROM lake.versions_of(id, environment, store)
)
FROM lake.standing_on((SELECT own.every FROM own), 0, 9223372036854775807)
