-- memledger 2.0.1: `memledger.telemetry.instrument` and `.memory_spans`.
-- Grain: one row a span (memledger names at most one record on a span).
WITH named AS (
    SELECT
        *,
        starts_with(name, 'memledger.memory.') OR coalesce(
            "memledger.memory.id", "memledger.memory.type", "memledger.memory.confidence",
            "memledger.memory.source_agent_id", "memledger.memory.session_id", "memledger.memory.parent_ids",
            "memledger.memory.namespace", "memledger.memory.operation", "memledger.memory.hedged"
        ) IS NOT NULL AS is_memory_span,
        coalesce(
            "memledger.memory.operation",
            CASE WHEN starts_with(name, 'memledger.memory.') THEN substr(name, 18) END,
            CASE WHEN starts_with(name, 'memledger.') THEN substr(name, 11) END
        ) AS verb
    FROM candidates
),
kinds AS (
    SELECT
        *,
        CASE
            WHEN is_memory_span THEN
                CASE
                    WHEN verb IN ('add', 'ingest') THEN 'write'
                    WHEN verb IN ('search', 'recall') THEN 'read'
                    WHEN verb IN ('outcome', 'lineage') THEN verb
                    ELSE 'other'
                END
            WHEN name = 'memledger.get' THEN 'get'
            WHEN name = 'memledger.record_outcome' THEN 'outcome'
            WHEN name = 'memledger.get_lineage' THEN 'lineage'
            WHEN name = 'memledger.conflict_detected' THEN 'conflict'
            WHEN name = 'memledger.promote' THEN 'other'
        END AS kind
    FROM named
)
SELECT
    row_id,
    0 AS ordinal,
    kind,
    NULL AS store,
    coalesce(
        "memledger.memory.id", "memledger.memory_id", "memledger.existing_id", "memledger.promoted_id"
    ) AS memory_id,
    "memledger.memory.type" AS memory_type,
    "memledger.memory.namespace" AS namespace,
    "memledger.memory.source_agent_id" AS record_agent,
    NULL AS own_agent,
    "memledger.memory.session_id" AS record_session,
    "memledger.memory.confidence" AS raw_confidence,
    "memledger.memory.hedged" = 'true' AS hedged,
    -- Anything but a JSON array names no parents, as in the reference.
    CASE
        WHEN json_valid("memledger.memory.parent_ids") AND json_type("memledger.memory.parent_ids") = 'ARRAY'
            THEN "memledger.memory.parent_ids"
    END AS parents_json,
    NULL AS score,
    NULL AS rank,
    "memledger.success" = 'true' AS success,
    is_memory_span
    AND kind IN ('write', 'read', 'outcome', 'lineage')
    AND NOT (kind = 'read' AND "memledger.memory.id" IS NULL AND coalesce("memledger.result_count", '') = '0')
        AS counted,
    CASE WHEN is_memory_span THEN coalesce("memledger.memory.operation", '') END AS verb
FROM kinds
WHERE kind IS NOT NULL
