-- Grain: a scope that was judged, and not once by the rubric that is asked for.
SELECT scope, list_sort(list(DISTINCT rubric)) AS rubrics
FROM evaluations
WHERE score IS NOT NULL
GROUP BY scope
HAVING NOT bool_or(rubric = CASE scope WHEN 'decision' THEN $attribution WHEN 'trace' THEN $rubric ELSE rubric END)
ORDER BY scope
