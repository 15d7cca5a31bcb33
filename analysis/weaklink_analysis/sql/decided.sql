-- Grain: a decision in a due trace, and the version that it, or else its agent run, wrote last.
-- Explicit ones are marked; an agent run that used memory and holds no explicit decision is one itself.
WITH runs AS (
    SELECT
        trace,
        run,
        bool_or(operation = 'read' OR (kind = 'write' AND version_key IS NOT NULL AND derived)) AS uses,
        max_by(version_key, (time_ns, span, ordinal)) FILTER (WHERE kind = 'write') AS memory_key
    FROM due_operations
    GROUP BY trace, run
),
beneath AS (
    SELECT o.trace, o.run, p.decision AS span, max_by(o.version_key, (o.time_ns, o.span, o.ordinal)) AS memory_key
    FROM due_operations AS o
    INNER JOIN places AS p ON o.trace = p.trace AND o.span = p.span
    WHERE o.kind = 'write' AND p.decision IS NOT NULL
    GROUP BY o.trace, o.run, p.decision
)
SELECT
    e.trace, e.span, p.run, e.decision AS kind, e.start_ns, e.agent_id, e.session_id, e.service_name, e.environment,
    coalesce(b.memory_key, r.memory_key) AS memory_key
FROM explicit AS e
INNER JOIN places AS p ON e.trace = p.trace AND e.span = p.span
LEFT JOIN beneath AS b ON e.trace = b.trace AND e.span = b.span AND p.run = b.run
LEFT JOIN runs AS r ON e.trace = r.trace AND p.run = r.run
UNION ALL
SELECT
    r.trace,
    r.run AS span,
    r.run,
    CASE WHEN m.is_run THEN 'agent_run' ELSE 'trace' END AS kind,
    coalesce(m.start_ns, t.start_ns) AS start_ns,
    CASE WHEN m.span IS NOT NULL THEN m.agent_id ELSE t.agent_id END AS agent_id,
    CASE WHEN m.span IS NOT NULL THEN m.session_id ELSE t.session_id END AS session_id,
    coalesce(m.service_name, t.service_name) AS service_name,
    coalesce(m.environment, t.environment) AS environment,
    r.memory_key
FROM runs AS r
INNER JOIN targets AS t ON r.trace = t.trace
LEFT JOIN due_marks AS m ON r.trace = m.trace AND r.run = m.span
ANTI JOIN (
    SELECT trace, run FROM places SEMI JOIN explicit USING (trace, span) UNION ALL SELECT trace, span FROM explicit
) AS x ON r.trace = x.trace AND r.run = x.run
WHERE r.uses
