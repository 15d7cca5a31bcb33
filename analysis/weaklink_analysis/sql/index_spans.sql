INSERT INTO span_index BY NAME
SELECT trace, span, parent, start_ns, end_ns, row_id, agent_id, session_id, service_name, environment
FROM fresh;
