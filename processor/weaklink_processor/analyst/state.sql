-- What the analyst itself must not forget, committed together with the engine's tables.

CREATE TABLE IF NOT EXISTS meta (schema_version INTEGER, settings VARCHAR);

-- One row: what is applied of which queue. seq numbers the publications.
CREATE TABLE IF NOT EXISTS applied (queue_id VARCHAR, queue_offset BIGINT, next_row_id BIGINT, seq BIGINT);

-- The parts of the lake that count, and those superseded ones whose grace time runs.
CREATE TABLE IF NOT EXISTS parts (
    table_name VARCHAR, path VARCHAR, seq BIGINT, row_count BIGINT, bytes BIGINT, base BOOLEAN,
    superseded_at TIMESTAMPTZ
);

-- Ids of the EVALUATOR spans that were sent, so that they are known when they come back.
CREATE TABLE IF NOT EXISTS issued (trace UUID, span UBIGINT);
-- When it was made, in seconds since 1970; one that is older than this column counts as made when that was added.
ALTER TABLE issued ADD COLUMN IF NOT EXISTS made_at DOUBLE DEFAULT (epoch(now()));

-- Own spans that came back in a queue row: not to be forwarded.
CREATE TABLE IF NOT EXISTS returned (queue_offset BIGINT, trace UUID, span UBIGINT);

-- EVALUATOR spans to send.
CREATE SEQUENCE IF NOT EXISTS outbox_seqs;
CREATE TABLE IF NOT EXISTS outbox (
    seq BIGINT DEFAULT nextval('outbox_seqs'), span BLOB, service_name VARCHAR, environment VARCHAR
);
-- Whose evaluation it is: decision, trace or session; null for one that is older than this column.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS scope VARCHAR;
-- Bytes of the span.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS size BIGINT;
-- Since when it waits, in seconds since 1970; null for one that is older than this column.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS made_at DOUBLE;
