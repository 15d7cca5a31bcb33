-- Grain: a write on a touched name that makes a version: its span did not fail, and no conflict resolver refused it (then a
-- child span names the same memory).
SELECT w.*
FROM history AS w
ANTI JOIN (SELECT trace, parent, name_key FROM history WHERE kind = 'conflict') AS refused
    ON w.trace = refused.trace AND w.span = refused.parent AND w.name_key = refused.name_key
WHERE w.kind = 'write' AND NOT w.failed
