-- Grain: a version of a touched name, as it is with this batch: what of it may change. The rest is as its span said.
-- Beside what was written, reads make one for each run of equal confidences that they show before the memory's first write.
WITH writes AS (
    SELECT row_id, ordinal, name_key, store, time_ns, trace, span FROM written
),
shows AS (
    SELECT row_id, ordinal, name_key, store, time_ns, trace, span, confidence
    FROM history
    WHERE operation = 'read' AND confidence IS NOT NULL
),
-- A reference without a store means '' if that has the memory, else the one store that has, if exactly one has.
homes AS (
    SELECT
        name_key,
        bool_or(store = '' AND written) AS in_blank,
        count(DISTINCT store) FILTER (WHERE store <> '') AS stores,
        min(store) FILTER (WHERE store <> '') AS only_store
    FROM (
        SELECT name_key, store, TRUE AS written FROM writes
        UNION ALL
        SELECT name_key, store, FALSE AS written FROM shows
    )
    GROUP BY name_key
),
shown AS (
    SELECT s.* REPLACE (
        CASE WHEN s.store = '' AND NOT h.in_blank AND h.stores = 1 THEN h.only_store ELSE s.store END AS store
    )
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
    SELECT row_id, ordinal, name_key, store, time_ns, trace, span, TRUE AS written FROM writes
    UNION ALL
    SELECT row_id, ordinal, name_key, store, time_ns, trace, span, FALSE AS written
    FROM early
    WHERE confidence IS DISTINCT FROM shown_before
),
ranked AS (
    SELECT
        row_id,
        ordinal,
        store,
        written,
        CAST(row_number() OVER (PARTITION BY name_key, store ORDER BY time_ns, trace, span, ordinal) AS INTEGER)
            AS version
    FROM candidates
)
SELECT
    o.row_id,
    o.ordinal,
    o.name_key,
    r.store,
    o.store AS named_store,
    r.version,
    o.time_ns,
    o.trace,
    o.span,
    CASE WHEN r.written THEN 'written' ELSE 'observed' END AS origin,
    -- Of an observed version never by inheritance: the reader is not the author.
    CASE WHEN r.written THEN o.agent_id ELSE o.record_agent END AS agent_id,
    CASE WHEN r.written THEN o.session_id ELSE o.record_session END AS session_id,
    coalesce(o.confidence, e.confidence, settings.assumed_confidence) AS declared,
    CASE
        WHEN o.confidence IS NOT NULL THEN 'declared'
        WHEN e.confidence IS NOT NULL THEN 'derived'
        ELSE 'assumed'
    END AS confidence_source,
    e.confidence_signals,
    o.min_threshold,
    o.flag_threshold
FROM ranked AS r
INNER JOIN history AS o ON r.row_id = o.row_id AND r.ordinal = o.ordinal
LEFT JOIN evidence AS e ON r.row_id = e.row_id AND r.ordinal = e.ordinal
CROSS JOIN settings
