-- Grain: a decision in a due trace that is new or differs from what is stored.
SELECT n.trace, n.span
FROM found_decisions AS n
LEFT JOIN known_decisions AS d ON n.trace = d.trace AND n.span = d.span
WHERE n IS DISTINCT FROM d
