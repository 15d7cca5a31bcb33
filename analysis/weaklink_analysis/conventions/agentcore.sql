-- AWS AgentCore Memory: its own spans (CreateEvent), and those of the AWS SDK (Bedrock AgentCore.CreateEvent).
-- Grain: one row a span: what was found is never named.
WITH operations AS (
    SELECT *, split_part(name, '.', -1) AS method, coalesce("memory.id", "gen_ai.memory.id") AS memory FROM candidates
)
SELECT
    row_id,
    CASE
        WHEN method IN ('CreateEvent', 'BatchCreateMemoryRecords', 'BatchUpdateMemoryRecords') THEN 'write'
        WHEN method IN ('DeleteEvent', 'DeleteMemoryRecord', 'BatchDeleteMemoryRecords') THEN 'delete'
        ELSE 'read'
    END AS kind,
    memory AS store,
    "event.id" AS memory_id,
    namespace,
    "actor.id" AS own_agent
FROM operations
WHERE
    memory IS NOT NULL
    AND method IN (
        'CreateEvent', 'GetEvent', 'ListEvents', 'DeleteEvent',
        'RetrieveMemoryRecords', 'ListMemoryRecords', 'GetMemoryRecord', 'DeleteMemoryRecord',
        'BatchCreateMemoryRecords', 'BatchUpdateMemoryRecords', 'BatchDeleteMemoryRecords'
    )
