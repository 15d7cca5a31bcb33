-- Grain: a child version and a parent it names; parent_version null: unresolved.
SELECT * EXCLUDE (
    child_key, parent_name_key, parent_key, oddity, skew_seconds, child_written_at, child_trace_id, child_span_id,
    child_ordinal, child_service_name
) FROM lake.derivations
