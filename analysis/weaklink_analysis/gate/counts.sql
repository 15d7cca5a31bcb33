-- Grain: all that is selected.
SELECT
    count(DISTINCT trace_id),
    count(*) FILTER (scope = 'trace'),
    count(*) FILTER (scope = 'trace' AND score >= $min_score),
    count(*) FILTER (scope = 'decision' AND score IS NOT NULL),
    count(*) FILTER (scope = 'decision' AND score >= $min_score),
    count(*) FILTER (scope = 'decision' AND score IS NULL)
FROM gate_targets
