-- Grain: an operation of this batch: what the models after this one need of it.
SELECT row_id, ordinal, trace, name_key, kind, confidence, content_key, time_ns, span
FROM operations
WHERE row_id >= (SELECT min(row_id) FROM fresh)
