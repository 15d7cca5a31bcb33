-- Grain: a decision or a trace that is selected, with the score by which it is judged; null: it is not evaluable.
WITH
{%- if timed %}
uses AS (
    SELECT trace_id, start_time FROM memory_operations
    UNION ALL
    SELECT trace_id, start_time FROM decisions
),
within AS (
    SELECT trace_id
    FROM uses
    GROUP BY trace_id
    HAVING
        ($since IS NULL OR min(start_time) >= CAST($since AS TIMESTAMPTZ))
        AND ($until IS NULL OR min(start_time) < CAST($until AS TIMESTAMPTZ))
),
{%- endif %}
judged AS (
    SELECT
        e.scope, e.trace_id, e.span_id, e.session_id, e.environment, e.service_name,
        CASE e.scope WHEN 'decision' THEN e.score_effective ELSE e.score END AS score,
        CASE e.scope WHEN 'decision' THEN e.score END AS declared_score
    FROM evaluations AS e
    WHERE
        e.rubric = CASE e.scope WHEN 'decision' THEN $attribution WHEN 'trace' THEN $rubric END
        AND ($service IS NULL OR e.service_name = $service)
        AND ($environment IS NULL OR e.environment = $environment)
        AND ($session IS NULL OR e.session_id = $session)
        AND (len($trace_ids::VARCHAR[]) = 0 OR e.trace_id IN (SELECT unnest($trace_ids::VARCHAR[])))
)
FROM judged {%- if timed %} SEMI JOIN within USING (trace_id) {%- endif %}
