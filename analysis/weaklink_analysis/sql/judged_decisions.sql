-- Grain: a decision in a due trace: what it relied on, and what the attribution rubric's criteria count.
WITH tallies AS (
    SELECT
        trace,
        span,
        list_sort(list(record)) AS records,
        count(author) AS attributed,
        count(DISTINCT author) AS authors,
        count_if(has_session) AS sessions,
        {%- for confidence in ('declared', 'effective') %}
        count_if(record.{{ confidence }} < {{ attribution.low | double }} AND NOT hedged) AS {{ confidence }}_low,
        count_if(
            record.{{ confidence }} >= {{ attribution.low | double }} AND record.{{ confidence }} < {{ attribution.confident | double }}
            AND NOT hedged
        ) AS {{ confidence }}_flagged,
        {%- endfor %}
        min(record.effective) AS lowest
    FROM records
    GROUP BY trace, span
),
-- Memories that it names and nothing in its trace read.
uncovered AS (
    SELECT c.trace, c.span, list_sort(list({'memory_id': n.memory_id, 'version': v.version})) AS unread
    FROM citations AS c
    INNER JOIN resolved AS r ON c.row_id = r.a AND c.name_key = r.b
    ANTI JOIN due_reads AS o ON c.trace = o.trace AND c.name_key = o.name_key AND r.store = o.store
    INNER JOIN names AS n ON c.name_key = n.name_key
    LEFT JOIN versions AS v ON r.version_key = v.version_key
    GROUP BY c.trace, c.span
)
SELECT
    d.* EXCLUDE (agent_id, session_id, run),
    coalesce(d.agent_id, h.agent_id) AS agent_id,
    coalesce(d.session_id, h.session_id) AS session_id,
    CASE WHEN m.version_key IS NOT NULL THEN
        {'memory_id': m.memory_id, 'store': m.store, 'environment': m.environment, 'version': m.version}
    END AS memory,
    {{ effective('m', 'c') }} AS memory_effective,
    c.chain_depth > {{ max_hops }} AS truncated,
    coalesce(len(t.records), 0) AS total,
    coalesce(t.records, []) AS records,
    coalesce(u.unread, []) AS unread,
    t.* EXCLUDE (trace, span, records)
FROM decided AS d
LEFT JOIN heirs AS h ON d.trace = h.trace AND d.span = h.span
LEFT JOIN tallies AS t ON d.trace = t.trace AND d.span = t.span
LEFT JOIN uncovered AS u ON d.trace = u.trace AND d.span = u.span
LEFT JOIN versions AS m ON d.memory_key = m.version_key
LEFT JOIN chains AS c ON d.memory_key = c.version_key
