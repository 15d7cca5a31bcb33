-- Grain: a version (start) that is explained: itself, to begin with.
CREATE OR REPLACE TEMP TABLE gate_ways AS
SELECT
    v.version_key AS start, v.version_key, CAST(NULL AS BIGINT) AS via, v.memory_id, 0 AS hop,
    v.effective_confidence >= v.declared_confidence AS ends
FROM lake.memory_versions AS v
WHERE v.version_key IN (SELECT unnest($keys::BIGINT[]))
