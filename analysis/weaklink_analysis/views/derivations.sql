-- Grain: a child version and a parent it names; parent_version null: unresolved.
SELECT * EXCLUDE (child_key, parent_name_key, parent_key, oddity, skew_seconds) FROM lake.derivations
