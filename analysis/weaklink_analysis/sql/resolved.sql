-- Grain: a reference (a, b), the store of the memory that it means, and the version; null: unresolved.
-- At time t: the newest version at or before t (of the child's own memory: strictly earlier in version order); else the
-- oldest version, if it is an observed one; else the oldest written one at most the clock skew later.
WITH homes AS (
    SELECT
        v.name_key,
        bool_or(v.store = '') AS in_blank,
        count(DISTINCT v.store) AS stores,
        min(v.store) AS only_store
    FROM named_versions AS v
    GROUP BY v.name_key
),
homed AS (
    SELECT
        r.* REPLACE (
            CASE WHEN r.store = '' AND NOT h.in_blank AND h.stores = 1 THEN h.only_store ELSE r.store END AS store
        )
    FROM refs AS r
    LEFT JOIN homes AS h ON r.name_key = h.name_key
),
aimed AS (
    SELECT * REPLACE (CASE WHEN own_store = store THEN own_version END AS own_version) FROM homed
),
picked AS (
    SELECT
        r.a,
        r.b,
        r.store,
        max_by(v.version_key, v.version) FILTER (
            WHERE CASE WHEN r.own_version IS NULL THEN v.time_ns <= r.time_ns ELSE v.version < r.own_version END
        ) AS as_of,
        max(v.version_key) FILTER (
            WHERE v.version = 1 AND v.origin = 'observed' AND r.own_version IS NULL
        ) AS shown_first,
        min_by(v.version_key, v.version) FILTER (
            WHERE
                v.origin = 'written'
                AND v.time_ns > r.time_ns
                AND v.time_ns <= r.time_ns + settings.clock_skew_ns
                AND r.own_version IS NULL
        ) AS skewed
    FROM aimed AS r
    LEFT JOIN named_versions AS v ON r.name_key = v.name_key AND r.store = v.store
    CROSS JOIN settings
    GROUP BY r.a, r.b, r.store
)
SELECT
    a,
    b,
    store,
    coalesce(as_of, shown_first, skewed) AS version_key,
    as_of IS NULL AND shown_first IS NULL AND skewed IS NOT NULL AS skewed
FROM picked
