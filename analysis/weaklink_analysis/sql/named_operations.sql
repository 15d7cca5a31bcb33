-- Grain: an operation of this batch: what the models after this one need of it.
SELECT row_id, ordinal, trace, name_key, kind, confidence
FROM operations
WHERE row_id >= (SELECT min(row_id) FROM fresh)
