INSERT INTO operations BY NAME
SELECT
    o.* EXCLUDE (content),
    o.own_agent AS agent_id,
    o.own_session AS session_id,
    n.name_key,
    c.name_key AS content_key,
    CAST(NULL AS BIGINT) AS version_key,
    CAST(NULL AS BIGINT) AS earlier_reads,
    {{ policy('o', 'min') }} AS min_threshold,
    {{ policy('o', 'flag') }} AS flag_threshold,
    -- Where that is further up, or arrives later, the operation seeks it.
    coalesce(own.span, above.span) AS run
FROM incoming_operations AS o
LEFT JOIN known_names AS n ON o.environment = n.environment AND o.memory_id = n.memory_id
LEFT JOIN known_names AS c ON o.environment = c.environment AND o.content = c.memory_id
LEFT JOIN incoming_marks AS own ON o.trace = own.trace AND o.span = own.span AND own.is_run
LEFT JOIN incoming_marks AS above ON o.trace = above.trace AND o.parent = above.span AND above.is_run;
