CREATE TABLE identity (id TEXT NOT NULL);

-- One row a commit group. `total` is the stored bytes of this row and of all before it since the queue was last
-- empty: the difference of two rows is what lies between them, without a scan. `payload` is last, so that the
-- other columns are read without touching its overflow pages.
CREATE TABLE queue (
    offset      INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, also after a delete
    received_at INTEGER NOT NULL,                  -- microseconds since the epoch
    size        INTEGER NOT NULL,                  -- bytes of the block before compression
    stored      INTEGER NOT NULL,                  -- bytes of `payload`
    total       INTEGER NOT NULL,
    payload     BLOB    NOT NULL                   -- zstd over length-delimited requests
);

CREATE TABLE quarantine (
    offset      INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    payload     BLOB    NOT NULL
);

CREATE TABLE consumers (name TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID; -- last offset done
CREATE TABLE marks     (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE VIEW last_offset AS SELECT coalesce(max(seq), 0) AS value FROM sqlite_sequence WHERE name = 'queue';

CREATE VIEW fill AS -- bytes stored; no row when the queue is empty
SELECT last.total - first.total + first.stored AS bytes
FROM (SELECT total, stored FROM queue ORDER BY offset LIMIT 1) AS first,
     (SELECT total FROM queue ORDER BY offset DESC LIMIT 1) AS last;
