-- Grain: a version of a touched name, as it is with this batch.
-- A write makes one, unless its span failed or a conflict resolver refused it (a child span names the same memory).
-- Reads make one for each run of equal confidences that they show before the memory's first write.
WITH history AS (
    SELECT o.* FROM operations AS o SEMI JOIN touched AS t ON o.name_key = t.name_key
),
writes AS (
    SELECT w.*
    FROM history AS w
    ANTI JOIN (SELECT * FROM history WHERE kind = 'conflict') AS refused
        ON w.trace = refused.trace AND w.span = refused.parent AND w.name_key = refused.name_key
    WHERE w.kind = 'write' AND NOT w.failed
),
shows AS (
    SELECT * FROM history WHERE operation = 'read' AND confidence IS NOT NULL
),
-- A reference without a store means '' if that has the memory, else the one store that has, if exactly one has.
homes AS (
    SELECT
        name_key,
        bool_or(store = '' AND kind = 'write') AS in_blank,
        count(DISTINCT store) FILTER (WHERE store <> '') AS stores,
        min(store) FILTER (WHERE store <> '') AS only_store
    FROM (SELECT name_key, store, kind FROM writes UNION ALL SELECT name_key, store, kind FROM shows)
    GROUP BY name_key
),
shown AS (
    SELECT
        s.* EXCLUDE (store),
        CASE WHEN s.store = '' AND NOT h.in_blank AND h.stores = 1 THEN h.only_store ELSE s.store END AS store
    FROM shows AS s
    INNER JOIN homes AS h ON s.name_key = h.name_key
),
first_writes AS (
    SELECT name_key, store, min(time_ns) AS time_ns FROM writes GROUP BY name_key, store
),
early AS (
    SELECT
        s.*,
        lag(s.confidence) OVER (
            PARTITION BY s.name_key, s.store ORDER BY s.time_ns, s.trace, s.span, s.ordinal
        ) AS shown_before
    FROM shown AS s
    LEFT JOIN first_writes AS w ON s.name_key = w.name_key AND s.store = w.store
    WHERE w.time_ns IS NULL OR s.time_ns < w.time_ns
),
candidates AS (
    SELECT
        row_id, ordinal, name_key, environment, store, memory_id, time_ns, trace, span, 'written' AS origin, agent_id,
        session_id, memory_type, namespace, confidence, hedged, parent_ids
    FROM writes
    UNION ALL BY NAME
    -- Never by inheritance: the reader is not the author.
    SELECT
        row_id, ordinal, name_key, environment, store, memory_id, time_ns, trace, span, 'observed' AS origin,
        record_agent AS agent_id, record_session AS session_id, memory_type, namespace, confidence, hedged, parent_ids
    FROM early
    WHERE confidence IS DISTINCT FROM shown_before
)
SELECT
    c.row_id,
    c.ordinal,
    c.name_key,
    c.environment,
    c.store,
    c.memory_id,
    CAST(row_number() OVER (
        PARTITION BY c.name_key, c.store ORDER BY c.time_ns, c.trace, c.span, c.ordinal
    ) AS INTEGER) AS version,
    c.time_ns,
    c.trace,
    c.span,
    c.origin,
    c.agent_id,
    c.session_id,
    c.memory_type,
    c.namespace,
    coalesce(c.confidence, settings.assumed_confidence) AS declared,
    CASE WHEN c.confidence IS NULL THEN 'assumed' ELSE 'declared' END AS confidence_source,
    c.hedged,
    c.parent_ids
FROM candidates AS c
CROSS JOIN settings
