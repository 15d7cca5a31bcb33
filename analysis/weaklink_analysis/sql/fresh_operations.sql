-- Grain: a record on a newly stored span, as the most specific convention recognised it.
-- '' and 'unknown' are no agent and no session; '' is no id; a confidence that is not a number in [0, 1] is none.
SELECT
    r.row_id,
    r.ordinal,
    f.trace,
    f.span,
    f.parent,
    f.start_ns,
    f.end_ns,
    greatest(f.start_ns, f.end_ns) AS time_ns,
    r.kind,
    CASE r.kind WHEN 'get' THEN 'read' WHEN 'conflict' THEN 'other' ELSE r.kind END AS operation,
    f.environment,
    f.service_name,
    coalesce(r.store, '') AS store,
    nullif(r.memory_id, '') AS memory_id,
    r.memory_type,
    r.namespace,
    nullif(nullif(r.record_agent, ''), 'unknown') AS record_agent,
    coalesce(nullif(nullif(r.record_agent, ''), 'unknown'), nullif(nullif(r.own_agent, ''), 'unknown'), f.agent_id)
        AS own_agent,
    nullif(nullif(r.record_session, ''), 'unknown') AS record_session,
    coalesce(nullif(nullif(r.record_session, ''), 'unknown'), f.session_id) AS own_session,
    r.raw_confidence,
    -- DuckDB's cast also takes digits grouped by underscores, which nobody means.
    CASE
        WHEN TRY_CAST(r.raw_confidence AS DOUBLE) BETWEEN 0 AND 1 AND NOT contains(r.raw_confidence, '_')
            THEN TRY_CAST(r.raw_confidence AS DOUBLE)
    END AS confidence,
    coalesce(r.hedged, FALSE) AS hedged,
    CASE
        WHEN r.parents_json IS NULL OR r.parents_json = '[]' THEN CAST([] AS VARCHAR[])
        ELSE list_filter(
            -- A JSON array of ids, a JSON string, or an id as it is.
            coalesce(
                TRY(CAST(CAST(r.parents_json AS JSON) AS VARCHAR[])),
                [coalesce(TRY(json_extract_string(r.parents_json, '$')), r.parents_json)]
            ),
            lambda parent: parent IS NOT NULL AND parent <> ''
        )
    END AS parent_ids,
    r.score,
    r.rank,
    r.success,
    r.counted,
    f.status_code = 'ERROR' AS failed,
    r.convention
FROM recognised AS r
INNER JOIN fresh AS f ON r.row_id = f.row_id
