-- Grain: a version whose published row is new or differs.
SELECT version_key FROM changed_versions
UNION
SELECT version_key FROM changed_chains
