-- What is known of a commit group besides its payload: how many requests it has, and how to recognise them when they
-- are sent again. A row here outlives the one in `queue` for as long as they are to be recognised. `total` is the
-- requests of this row and of all before it, as in `queue`.
CREATE TABLE arrivals (
    offset      INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL, -- microseconds since the epoch
    requests    INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    digests     BLOB    NOT NULL  -- 32 bytes a request; empty when they are not to be recognised
);

-- Rows of version 1 would have to be unpacked to know how many requests they hold: each counts for one.
INSERT INTO arrivals SELECT offset, received_at, 1, row_number() OVER (ORDER BY offset), x'' FROM queue;

CREATE VIEW waiting AS
SELECT coalesce(
    (SELECT total FROM arrivals ORDER BY offset DESC LIMIT 1)
    - (SELECT total - requests FROM arrivals WHERE offset = (SELECT min(offset) FROM queue)),
    0
) AS requests;
