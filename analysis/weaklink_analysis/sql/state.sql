-- The engine's own tables, in the DuckDB file that only it opens. Readers get the lake instead.
-- Ids are kept as UUID and UBIGINT (order equals that of the hex text) and memory ids behind integer keys: joins are
-- several times cheaper than on text.

CREATE SEQUENCE IF NOT EXISTS name_keys;
CREATE SEQUENCE IF NOT EXISTS version_keys;
CREATE SEQUENCE IF NOT EXISTS evaluation_keys;

-- Grain: a stored span. What later spans of its trace may need from it.
CREATE TABLE IF NOT EXISTS span_index (
    trace UUID, span UBIGINT, parent UBIGINT, start_ns UBIGINT, end_ns UBIGINT, row_id BIGINT,
    agent_id VARCHAR, session_id VARCHAR, service_name VARCHAR, environment VARCHAR
);

-- Grain: a stored span that runs an agent, decides explicitly (`decision` says by what), names what it relied on, or
-- calls a model.
CREATE TABLE IF NOT EXISTS marks (
    trace UUID, span UBIGINT, row_id BIGINT, start_ns UBIGINT, agent_id VARCHAR, session_id VARCHAR,
    service_name VARCHAR, environment VARCHAR, is_run BOOLEAN, decision VARCHAR, model VARCHAR
);

-- Grain: a memory that a stored span says it relied on.
CREATE TABLE IF NOT EXISTS citations (
    trace UUID, span UBIGINT, row_id BIGINT, start_ns UBIGINT, name_key BIGINT, store VARCHAR
);

-- Grain: an environment and a memory id that something named, as its own record or as a parent; or an environment and the
-- fingerprint of a content that was written there.
CREATE TABLE IF NOT EXISTS names (name_key BIGINT, environment VARCHAR, memory_id VARCHAR);

-- Grain: a memory touched by a span.
CREATE TABLE IF NOT EXISTS operations (
    row_id BIGINT, ordinal INTEGER, trace UUID, span UBIGINT, parent UBIGINT, start_ns UBIGINT, end_ns UBIGINT,
    time_ns UBIGINT, kind VARCHAR, operation VARCHAR, environment VARCHAR, service_name VARCHAR, store VARCHAR,
    memory_id VARCHAR, name_key BIGINT, memory_type VARCHAR, namespace VARCHAR, record_agent VARCHAR,
    own_agent VARCHAR, agent_id VARCHAR, record_session VARCHAR, own_session VARCHAR, session_id VARCHAR,
    raw_confidence VARCHAR, confidence DOUBLE, hedged BOOLEAN, parent_ids VARCHAR[], score DOUBLE, rank INTEGER,
    success BOOLEAN, counted BOOLEAN, verb VARCHAR, failed BOOLEAN, convention VARCHAR, version_key BIGINT,
    raw_min_threshold VARCHAR, raw_flag_threshold VARCHAR,  -- as the span has them
    min_threshold DOUBLE, flag_threshold DOUBLE,  -- those in force
    run UBIGINT,  -- the span of the agent run that encloses it; null: none does
    signals STRUCT(
        sources VARCHAR[], observations BIGINT, confirmed BOOLEAN, grounding VARCHAR, extractor VARCHAR, logprobs DOUBLE[]
    ),  -- how the record came to be, of a write that says from what source
    model VARCHAR,  -- what the trace tells of the extractor where the span does not
    content_key BIGINT,  -- the name of what a write writes
    earlier_reads BIGINT  -- of a read that means a version: how often its memory had been read
);

-- Grain: a version of a memory: a write, or a run of reads that showed one confidence.
CREATE TABLE IF NOT EXISTS versions (
    version_key BIGINT, row_id BIGINT, ordinal INTEGER, name_key BIGINT, environment VARCHAR, service_name VARCHAR,
    store VARCHAR,
    named_store VARCHAR,  -- the store that the span names, in which its parent ids are looked up
    memory_id VARCHAR, version INTEGER, time_ns UBIGINT, trace UUID, span UBIGINT, origin VARCHAR, agent_id VARCHAR,
    session_id VARCHAR, memory_type VARCHAR, namespace VARCHAR, declared DOUBLE, confidence_source VARCHAR,
    hedged BOOLEAN, parent_ids VARCHAR[], min_threshold DOUBLE, flag_threshold DOUBLE, content_key BIGINT,
    confidence_signals STRUCT(signal VARCHAR, said VARCHAR, "value" DOUBLE, origin VARCHAR)[]  -- of a derived confidence
);

-- Grain: a child version and a parent id it names. parent_key null: unresolved.
CREATE TABLE IF NOT EXISTS edges (
    child_key BIGINT, parent_name_key BIGINT, parent_key BIGINT, skewed BOOLEAN
);

-- Grain: a trace with memory operations or a decision that waits for its quiet period, on the arrival clock.
CREATE TABLE IF NOT EXISTS pending (trace UUID, last_arrival TIMESTAMPTZ);

-- Grain: a decision, as it was when its trace was last judged.
CREATE TABLE IF NOT EXISTS decisions (
    trace UUID, span UBIGINT, start_ns UBIGINT, environment VARCHAR, service_name VARCHAR, agent_id VARCHAR,
    session_id VARCHAR, kind VARCHAR, min_effective_confidence DOUBLE,
    memory STRUCT(memory_id VARCHAR, store VARCHAR, environment VARCHAR, version INTEGER),
    records STRUCT(memory_id VARCHAR, store VARCHAR, environment VARCHAR, version INTEGER)[],
    unread STRUCT(memory_id VARCHAR, version INTEGER)[],  -- memories that it names and nothing in its trace read
    memory_key BIGINT, record_keys BIGINT[]  -- the versions of memory and records; null: unresolved
);

-- Grain: a rubric, a session and a trace: what the rubric's checks count, over the trace's operations of the session.
CREATE TABLE IF NOT EXISTS session_measures (
    rubric VARCHAR, environment VARCHAR, session_id VARCHAR, trace UUID, operations BIGINT, spans BIGINT,
    with_confidence BIGINT, judged BIGINT, above BIGINT, with_agent BIGINT, deepest BIGINT, low_unhedged BIGINT,
    findings BIGINT[],  -- a number for each code that is weighed
    earliest STRUCT(time_ns UBIGINT, trace UUID, span UBIGINT, ordinal INTEGER, service_name VARCHAR)
);

-- Grain: (rubric, scope, target): the newest state of an evaluation.
-- target: the trace, or a hash of environment and session; decision: its span, else 0.
CREATE TABLE IF NOT EXISTS evaluations (
    evaluation_key BIGINT, name VARCHAR, rubric VARCHAR, scope VARCHAR, target UUID, decision UBIGINT, trace UUID,
    span UBIGINT, session_id VARCHAR, environment VARCHAR, service_name VARCHAR, score DOUBLE, score_effective DOUBLE,
    passed BOOLEAN, revision INTEGER, evaluated_at TIMESTAMPTZ, span_count BIGINT,
    checks STRUCT(name VARCHAR, passed BOOLEAN, weight DOUBLE, found DOUBLE, total DOUBLE, bound DOUBLE)[],
    told BOOLEAN,  -- some revision had a score
    ceased BOOLEAN  -- the target is none any more; the row is kept so that revisions go on
);
