INSERT INTO operations BY NAME
SELECT
    o.*,
    o.own_agent AS agent_id,
    o.own_session AS session_id,
    n.name_key,
    CAST(NULL AS BIGINT) AS version_key,
    {{ policy('o', 'min') }} AS min_threshold,
    {{ policy('o', 'flag') }} AS flag_threshold
FROM incoming_operations AS o
LEFT JOIN known_names AS n ON o.environment = n.environment AND o.memory_id = n.memory_id;
