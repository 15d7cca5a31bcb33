UPDATE operations SET
    agent_id = i.agent_id, session_id = i.session_id, run = i.run, operation = i.operation
FROM inherited AS i
WHERE operations.row_id = i.row_id AND operations.ordinal = i.ordinal;
