-- Grain: a version (start) that is explained, and an ancestor one derivation above those of the hop before that may be on the
-- way to what bounds it: not one that is worth more. `ends`: it is what bounds it; then there are no further steps.
-- A parent that is not known here has a key below 0.
INSERT INTO gate_ways
SELECT
    w.start, e.parent_key, min_by(w.version_key, e.child_id), any_value(e.parent_id), $hop,
    any_value(e.parent_id = s.weakest_id AND (p.version_key IS NULL OR p.declared_confidence = s.effective_confidence))
FROM gate_ways AS w
ANTI JOIN (FROM gate_ways WHERE ends) AS d ON w.start = d.start
INNER JOIN (
    SELECT child_key, child_id, coalesce(parent_key, -parent_name_key) AS parent_key, parent_id FROM lake.derivations
) AS e ON w.version_key = e.child_key
INNER JOIN lake.memory_versions AS s ON w.start = s.version_key
LEFT JOIN lake.memory_versions AS p ON e.parent_key = p.version_key
ANTI JOIN gate_ways AS r ON w.start = r.start AND e.parent_key = r.version_key
WHERE
    w.hop = $hop - 1
    AND s.effective_confidence < s.declared_confidence
    AND (p.version_key IS NULL OR p.effective_confidence <= s.effective_confidence)
GROUP BY w.start, e.parent_key
