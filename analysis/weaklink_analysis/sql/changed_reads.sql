-- Grain: a read of which it is now known how many earlier reads its memory had, or that this changed.
WITH reads AS (
    SELECT
        o.*, v.store AS home, {'time_ns': o.time_ns, 'trace': o.trace, 'span': o.span, 'ordinal': o.ordinal} < r.since AS before
    FROM (
        SELECT row_id, ordinal, name_key, trace, span, time_ns, version_key, earlier_reads
        FROM operations
        WHERE operation = 'read' AND version_key IS NOT NULL
    ) AS o
    INNER JOIN reread AS r ON o.name_key = r.name_key
    INNER JOIN (SELECT version_key, store FROM versions SEMI JOIN reread USING (name_key)) AS v
        ON o.version_key = v.version_key
),
stayed AS (
    SELECT name_key, home, count(*) AS reads FROM reads WHERE before GROUP BY name_key, home
),
counted AS (
    SELECT
        l.row_id,
        l.ordinal,
        l.trace,
        l.earlier_reads AS known,
        coalesce(s.reads, 0) - 1
            + row_number() OVER (PARTITION BY l.name_key, l.home ORDER BY l.time_ns, l.trace, l.span, l.ordinal)
            AS earlier_reads
    FROM reads AS l
    LEFT JOIN stayed AS s ON l.name_key = s.name_key AND l.home = s.home
    WHERE NOT l.before
)
SELECT row_id, ordinal, trace, earlier_reads
FROM counted
WHERE earlier_reads IS DISTINCT FROM known
