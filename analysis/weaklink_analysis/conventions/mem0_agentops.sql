-- mem0 under AgentOps's instrumentation: spans mem0.memory.add, mem0.AsyncMemory.search and so on.
-- Grain: a row a record that the span names; one row for a span that names none.
WITH operations AS (
    SELECT *, split_part(name, '.', -1) AS verb FROM candidates
),
listed AS (
    SELECT
        row_id,
        number AS ordinal,
        any_value(value) FILTER (WHERE field = 'id') AS memory_id,
        any_value(value) FILTER (WHERE field = 'event') AS event,
        TRY_CAST(any_value(value) FILTER (WHERE field = 'score') AS DOUBLE) AS score,
        any_value(value) FILTER (WHERE field = 'metadata.derived_from') AS parents,
        map_from_entries(list({
            'key': substr(field, 10),
            'value': CASE WHEN value IN ('True', 'False') THEN lower(value) ELSE value END
        }) FILTER (WHERE starts_with(field, 'metadata.') AND field <> 'metadata.derived_from')) AS said
    FROM indexed
    GROUP BY row_id, number
)
SELECT
    o.row_id,
    coalesce(l.ordinal, 0) AS ordinal,
    CASE
        WHEN l.event = 'DELETE' OR starts_with(o.verb, 'delete') THEN 'delete'
        WHEN l.event = 'NONE' THEN 'other'
        WHEN o.verb IN ('add', 'update') THEN 'write'
        WHEN o.verb IN ('search', 'get', 'get_all') THEN 'read'
        WHEN o.verb = 'history' THEN 'lineage'
        ELSE 'other'
    END AS kind,
    coalesce(l.memory_id, CASE WHEN l.row_id IS NULL THEN o."mem0.memory_id" END) AS memory_id,
    o."mem0.agent_id" AS own_agent,
    o."mem0.run_id" AS record_session,
    -- A list that is not JSON is Python's text of it.
    CASE
        WHEN json_valid(coalesce(l.parents, o."mem0.metadata.derived_from"))
            THEN coalesce(l.parents, o."mem0.metadata.derived_from")
        ELSE replace(coalesce(l.parents, o."mem0.metadata.derived_from"), '''', '"')
    END AS parents_json,
    CAST(coalesce(to_json(l.said), json_object(
        'confidence', o."mem0.metadata.confidence",
        'hedged', lower(o."mem0.metadata.hedged"),
        'created_by', o."mem0.metadata.created_by",
        'session_id', o."mem0.metadata.session_id"
    )) AS VARCHAR) AS metadata,
    l.score,
    CASE WHEN l.score IS NOT NULL THEN l.ordinal + 1 END AS rank,
    kind IN ('write', 'read', 'lineage') AND coalesce(o."mem0.results_count", '') <> '0' AS counted
FROM operations AS o
LEFT JOIN listed AS l ON o.row_id = l.row_id
