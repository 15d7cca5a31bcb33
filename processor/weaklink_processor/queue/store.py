"""The durable queue: rows in order of arrival, kept until every consumer is done with them.

One SQLite file that any number of processes may open. Writers take turns, readers wait for nobody.
"""

import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import structlog
import zstandard

from weaklink_processor.errors import Overloaded, UsageError
from weaklink_processor.queue import database, framing
from weaklink_processor.queue.backlog import Backlog, backlog

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAMAGED = (zstandard.ZstdError, ValueError)

APPEND = """
    INSERT INTO queue (received_at, size, stored, payload, total)
    VALUES (?1, ?2, ?3, ?4, ?3 + coalesce((SELECT total FROM queue ORDER BY offset DESC LIMIT 1), 0))
"""
ARRIVE = """
    INSERT INTO arrivals (offset, received_at, requests, digests, total)
    VALUES (?1, ?2, ?3, ?4, ?3 + coalesce((SELECT total FROM arrivals ORDER BY offset DESC LIMIT 1), 0))
"""
FORGET = "DELETE FROM arrivals WHERE offset <= min(?, (SELECT min(offset) - 1 FROM queue))"
ARRIVALS = "SELECT offset, received_at, digests FROM arrivals WHERE received_at >= ? ORDER BY offset"
FILL = "SELECT coalesce((SELECT bytes FROM fill), 0), (SELECT requests FROM waiting)"
READ = "SELECT offset, received_at, size, payload FROM queue WHERE offset > ? ORDER BY offset"
REGISTER = """
    INSERT INTO consumers
    VALUES (?, coalesce((SELECT min(offset) - 1 FROM queue), (SELECT value FROM last_offset)))
    ON CONFLICT DO NOTHING
"""
SWEEP = "DELETE FROM queue WHERE offset <= (SELECT min(done) FROM consumers)"
STATS = """
    SELECT count(*), (SELECT requests FROM waiting), coalesce((SELECT bytes FROM fill), 0), coalesce(min(offset), 0),
           (SELECT value FROM last_offset), min(received_at), (SELECT count(*) FROM quarantine)
    FROM queue
"""
OVERFLOW = """
    SELECT offset - 1 FROM queue
    WHERE offset > ?1
        AND total > (SELECT total FROM queue WHERE offset <= ?2 ORDER BY offset DESC LIMIT 1) - ?3
    ORDER BY offset LIMIT 1
"""
ADD_TO_MARK = "INSERT INTO marks VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value"
PASSED_OVER = "passed over: "
"""What the names of the marks begin with that count it."""
SET_ASIDE = "INSERT INTO quarantine SELECT offset, received_at, size, ?, payload FROM queue WHERE offset = ?"
QUARANTINED = "SELECT offset, received_at, size, reason FROM quarantine ORDER BY offset DESC LIMIT ?"

DIGEST_BYTES = 32
NO_BOUND = sys.maxsize

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """One commit group: the protobuf ExportTraceServiceRequests of it, in order of arrival."""

    offset: int
    received_at: datetime
    requests: list[bytes]


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is remembered of a commit group, also when its row is gone: the digest of each request."""

    offset: int
    received_at: datetime
    digests: list[bytes]


@dataclass(frozen=True, slots=True)
class QueueStats:
    """How full the queue is; offsets are 0 where there is none."""

    rows: int
    requests: int
    bytes: int  # as stored: compressed
    first_offset: int  # oldest row still there
    last_offset: int  # highest ever given
    consumers: dict[str, int]  # last offset done
    oldest_received_at: datetime | None
    quarantined: int  # rows set aside, not part of the other numbers


@dataclass(frozen=True, slots=True)
class SetAside:
    """A row in quarantine."""

    offset: int
    received_at: datetime
    size: int  # uncompressed bytes, as written
    reason: str


@dataclass(frozen=True, slots=True)
class _Stored:
    offset: int
    received_at: int
    size: int
    payload: bytes


class QueueStore:
    """A queue file. Any thread may use it: each gets its own connection."""

    def __init__(self, path: Path, *, max_bytes: int, max_requests: int = NO_BOUND) -> None:
        self._path = path
        self._max_bytes, self._max_requests = max_bytes, max_requests
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []
        with self._connected() as db:
            (self.id,) = db.execute("SELECT id FROM identity").fetchone()

    @classmethod
    def open(cls, path: Path, *, max_bytes: int, max_requests: int = NO_BOUND) -> Self:
        """Open the file, made if missing.

        `max_bytes` bounds what waits, as stored, and `max_requests` how many requests that are.
        BrokenStore: not a queue, damaged, or from a newer version. UsageError: its folder cannot be written to.
        """
        try:
            with database.translated(path):
                database.create(path)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
        return cls(path, max_bytes=max_bytes, max_requests=max_requests)

    def append(
        self, requests: Sequence[bytes], received_at: datetime, *, digests: Sequence[bytes] = (), forget: int = 0
    ) -> int:
        """Add one row and return its offset once it is fsynced; Overloaded when the queue or the disk is full.

        `digests`: one of DIGEST_BYTES for each request, remembered with it; those of rows up to `forget` no longer.
        """
        self._check_room()
        block = framing.join(requests)
        payload = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(block)
        moment = (received_at - EPOCH) // MICROSECOND
        with self._writing() as db:
            offset = db.execute(APPEND, (moment, len(block), len(payload), payload)).lastrowid
            db.execute(ARRIVE, (offset, moment, len(requests), b"".join(digests)))
            db.execute(FORGET, (forget,))
        assert offset is not None  # noqa: S101 - an INSERT that returned has a row id
        return offset

    def arrivals(self, since: datetime) -> list[Arrival]:
        """What is remembered of the commit groups since then, in order."""
        with self._connected() as db:
            found = db.execute(ARRIVALS, ((since - EPOCH) // MICROSECOND,)).fetchall()
        return [
            Arrival(offset, EPOCH + moment * MICROSECOND, _split(digests, DIGEST_BYTES))
            for offset, moment, digests in found
        ]

    def read(self, after: int, max_bytes: int) -> list[Row]:
        """Rows with an offset above `after`, in order: about `max_bytes` uncompressed, and one at least if any waits.

        A damaged row is set aside, logged, and passed over.
        """
        while stored := self._stored(after, max_bytes):
            rows = [row for row in map(self._unpacked, stored) if row]
            if rows:
                return rows
            after = stored[-1].offset
        return []

    def progress(self, consumer: str) -> int:
        """The last offset that `consumer` is done with, 0 at first."""
        return self._value("SELECT done FROM consumers WHERE name = ?", consumer)

    def register(self, consumer: str) -> None:
        """From now on rows wait for `consumer`; a new one starts at the oldest row still there."""
        with self._writing() as db:
            db.execute(REGISTER, (consumer,))

    def forget(self, consumer: str) -> None:
        """Rows wait for `consumer` no longer, nor is it told what it did without."""
        with self._writing() as db:
            db.execute("DELETE FROM consumers WHERE name = ?", (consumer,))
            db.execute("DELETE FROM marks WHERE name = ?", (PASSED_OVER + consumer,))
            db.execute(SWEEP)

    def release(self, consumer: str, offset: int) -> None:
        """`consumer` is done up to `offset`; delete what all are done with. LookupError: not registered."""
        with self._writing() as db:
            known = db.execute("UPDATE consumers SET done = max(done, ?) WHERE name = ?", (offset, consumer)).rowcount
            if not known:
                raise LookupError(f"{consumer!r} is not a consumer of {self._path}")
            db.execute(SWEEP)

    def overflow(self, after: int, upto: int, max_bytes: int) -> int:
        """The last offset to give up, if of the rows above `after` and up to `upto` only `max_bytes` may wait."""
        with self._connected() as db:
            found = db.execute(OVERFLOW, (after, upto, max_bytes)).fetchone()
        return int(found[0]) if found else after

    def quarantine(self, offset: int, reason: str) -> None:
        """Set a row aside: it is kept, and never read again. A row no longer in the queue: nothing happens."""
        with self._writing() as db:
            moved = db.execute(SET_ASIDE, (reason, offset)).rowcount
            db.execute("DELETE FROM queue WHERE offset = ?", (offset,))
        if moved:
            log.error("queue row set aside", offset=offset, reason=reason, file=str(self._path))

    def mark(self, name: str) -> int:
        """A number kept under `name`, 0 if there is none."""
        return self._value("SELECT value FROM marks WHERE name = ?", name)

    def set_mark(self, name: str, value: int) -> None:
        """Keep `value` under `name`, durably."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (name, value))

    def pass_over(self, consumer: str, units: int) -> None:
        """Count what `consumer` does without, since there is no more room for it."""
        with self._writing() as db:
            db.execute(ADD_TO_MARK, (PASSED_OVER + consumer, units))

    def passed_over(self) -> dict[str, int]:
        """How much each consumer has had to do without, if anything."""
        with self._connected() as db:
            found = db.execute("SELECT name, value FROM marks ORDER BY name").fetchall()
        return {name.removeprefix(PASSED_OVER): value for name, value in found if name.startswith(PASSED_OVER)}

    def stats(self) -> QueueStats:
        """One consistent look at the queue."""
        with self._connected() as db, db:
            db.execute("BEGIN")
            rows, requests, size, first, last, oldest, quarantined = db.execute(STATS).fetchone()
            consumers = dict(db.execute("SELECT name, done FROM consumers").fetchall())
        received = None if oldest is None else EPOCH + oldest * MICROSECOND
        return QueueStats(rows, requests, size, first, last, consumers, received, quarantined)

    def backlog(self, consumer: str) -> Backlog:
        """What `consumer` has still before it."""
        done = self.progress(consumer)
        with self._connected() as db:
            return backlog(db, done)

    def peek(self, after: int) -> Row | None:
        """The row that follows an offset, to look at; None where there is none, or a damaged one, which stays."""
        stored = self._stored(after, 1)
        try:
            return _opened(stored[0]) if stored else None
        except DAMAGED:
            return None

    def quarantined(self, most: int) -> list[SetAside]:
        """Rows that were set aside, the latest first."""
        with self._connected() as db:
            found = db.execute(QUARANTINED, (most,)).fetchall()
        return [SetAside(offset, EPOCH + at * MICROSECOND, size, reason) for offset, at, size, reason in found]

    def close(self) -> None:
        """Close every thread's connection; no other thread may be at work in the store."""
        while self._connections:
            self._connections.pop().close()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with database.translated(self._path):
            connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
            if connection is None:
                connection = self._own.connection = database.connect(self._path)
                self._connections.append(connection)
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed and fsynced at the end, rolled back on an exception."""
        with self._connected() as db:
            db.execute("BEGIN IMMEDIATE")
            with db:
                yield db

    def _value(self, query: str, name: str) -> int:
        with self._connected() as db:
            found = db.execute(query, (name,)).fetchone()
        return 0 if found is None else int(found[0])

    def _check_room(self) -> None:
        with self._connected() as db:
            size, requests = db.execute(FILL).fetchone()
        if size >= self._max_bytes:
            raise Overloaded(f"the queue holds {size} bytes, and {self._max_bytes} is its limit")
        if requests >= self._max_requests:
            raise Overloaded(f"the queue holds {requests} requests, and {self._max_requests} is its limit")

    def _stored(self, after: int, max_bytes: int) -> list[_Stored]:
        """Rows as they lie in the file: fetched first and unpacked later, so that no reader holds up the WAL."""
        stored = []
        size = 0
        with self._connected() as db:
            cursor = db.execute(READ, (after,))
            for fields in cursor:
                stored.append(_Stored(*fields))
                size += stored[-1].size
                if size >= max_bytes:
                    break
            cursor.close()
        return stored

    def _unpacked(self, stored: _Stored) -> Row | None:
        try:
            return _opened(stored)
        except DAMAGED as error:
            self.quarantine(stored.offset, f"damaged: {error}")
            return None


def _opened(stored: _Stored) -> Row:
    """The row as it was written, or one of DAMAGED."""
    return Row(stored.offset, EPOCH + stored.received_at * MICROSECOND, framing.split(_decompressed(stored)))


def _split(joined: bytes, size: int) -> list[bytes]:
    return [joined[start : start + size] for start in range(0, len(joined), size)]


def _decompressed(stored: _Stored) -> bytes:
    """The row's block; ZstdError or ValueError when it is damaged, found out before memory is taken for it."""
    size = zstandard.frame_content_size(stored.payload)
    if size != stored.size:
        raise ValueError(f"block of {size} bytes, {stored.size} were written")
    return zstandard.ZstdDecompressor().decompress(stored.payload)
