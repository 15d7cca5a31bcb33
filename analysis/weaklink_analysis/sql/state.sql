-- The engine's own tables, in the DuckDB file that only it opens. Readers get the lake instead.
-- Ids are kept as UUID and UBIGINT (order equals that of the hex text) and memory ids behind integer keys: joins are
-- several times cheaper than on text.

CREATE SEQUENCE IF NOT EXISTS name_keys;
CREATE SEQUENCE IF NOT EXISTS version_keys;

-- Grain: a stored span. What later spans of its trace may need from it.
CREATE TABLE IF NOT EXISTS span_index (
    trace UUID, span UBIGINT, parent UBIGINT, start_ns UBIGINT, end_ns UBIGINT, row_id BIGINT,
    agent_id VARCHAR, session_id VARCHAR, service_name VARCHAR, environment VARCHAR
);

-- Grain: an environment and a memory id that something named, as its own record or as a parent.
-- They are found by the hash: a look-up by text costs ten times as much.
CREATE TABLE IF NOT EXISTS names (name_key BIGINT, environment VARCHAR, memory_id VARCHAR, hash UBIGINT);

-- Grain: a memory touched by a span.
CREATE TABLE IF NOT EXISTS operations (
    row_id BIGINT, ordinal INTEGER, trace UUID, span UBIGINT, parent UBIGINT, start_ns UBIGINT, end_ns UBIGINT,
    time_ns UBIGINT, kind VARCHAR, operation VARCHAR, environment VARCHAR, service_name VARCHAR, store VARCHAR,
    memory_id VARCHAR, name_key BIGINT, memory_type VARCHAR, namespace VARCHAR, record_agent VARCHAR,
    own_agent VARCHAR, agent_id VARCHAR, record_session VARCHAR, own_session VARCHAR, session_id VARCHAR,
    raw_confidence VARCHAR, confidence DOUBLE, hedged BOOLEAN, parent_ids VARCHAR[], score DOUBLE, rank INTEGER,
    success BOOLEAN, counted BOOLEAN, failed BOOLEAN, convention VARCHAR, version_key BIGINT,
    raw_min_threshold VARCHAR, raw_flag_threshold VARCHAR,  -- as the span has them
    min_threshold DOUBLE, flag_threshold DOUBLE  -- those in force
);

-- Grain: a version of a memory: a write, or a run of reads that showed one confidence.
CREATE TABLE IF NOT EXISTS versions (
    version_key BIGINT, row_id BIGINT, ordinal INTEGER, name_key BIGINT, environment VARCHAR, store VARCHAR,
    named_store VARCHAR,  -- the store that the span names, in which its parent ids are looked up
    memory_id VARCHAR, version INTEGER, time_ns UBIGINT, trace UUID, span UBIGINT, origin VARCHAR, agent_id VARCHAR,
    session_id VARCHAR, memory_type VARCHAR, namespace VARCHAR, declared DOUBLE, confidence_source VARCHAR,
    hedged BOOLEAN, parent_ids VARCHAR[], min_threshold DOUBLE, flag_threshold DOUBLE
);

-- Grain: a child version and a parent id it names. parent_key null: unresolved.
CREATE TABLE IF NOT EXISTS edges (
    child_key BIGINT, parent_name_key BIGINT, parent_key BIGINT, skewed BOOLEAN
);

-- Grain: a trace with memory operations that waits for its quiet period, on the arrival clock.
CREATE TABLE IF NOT EXISTS pending (trace UUID, last_arrival TIMESTAMPTZ);

-- Grain: (name, target, rubric): the newest state of an evaluation.
CREATE TABLE IF NOT EXISTS evaluations (
    name VARCHAR, scope VARCHAR, trace UUID, span UBIGINT, session_id VARCHAR, environment VARCHAR,
    service_name VARCHAR, score DOUBLE, score_effective DOUBLE, threshold DOUBLE, passed BOOLEAN, label VARCHAR,
    explanation VARCHAR, rubric VARCHAR, revision INTEGER, annotator_kind VARCHAR, evaluated_at TIMESTAMPTZ,
    span_count BIGINT, record_ids VARCHAR[],
    checks STRUCT(name VARCHAR, passed BOOLEAN, weight DOUBLE, detail VARCHAR)[]
);
