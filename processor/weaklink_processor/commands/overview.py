"""One look at a data folder, whether or not a service is at work on it. Nothing in it changes."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import duckdb

from weaklink_processor import wiring
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.queue.backlog import Backlog
from weaklink_processor.queue.outgoing import Outgoing, still_outgoing
from weaklink_processor.queue.store import QueueStore, Row
from weaklink_processor.span_count import span_count
from weaklink_processor.supervise.lock import is_held
from weaklink_processor.telemetry.journal import Content, Fault, read_journal

MOST_SET_ASIDE = 5
SAMPLE_ROWS = 16
"""Queue rows that are opened to say how many spans wait; more than these are estimated from them."""
NEARLY_FULL = 0.8
LONG_SECONDS = 300.0
"""What the analyst has not come to in this time, it may never come to."""
_COUNTS = {
    "spans": "SELECT count(*) FROM spans",
    "traces": "SELECT count(DISTINCT trace_id) FROM spans",
    "memories": "SELECT count(*) FROM memories",
    "evaluations": "SELECT count(*) FROM evaluations",
}


@dataclass(frozen=True, slots=True)
class Lag:
    """What a consumer of the queue has still before it."""

    rows: int
    bytes: int  # compressed
    requests: int
    spans: int
    estimated: bool  # requests and spans are, from some of the rows
    seconds: float  # how long its next row has been waiting


NO_LAG = Lag(rows=0, bytes=0, requests=0, spans=0, estimated=False, seconds=0.0)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where data is sent on to. `state`: answers, away, or unknown where no service is running."""

    consumer: str
    state: str
    since: str | None


@dataclass(frozen=True, slots=True)
class SetAside:
    """A queue row that could not be used."""

    offset: int
    received_at: str
    bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes on disk, and how many are left there."""

    queue: int
    state: int
    lake: int
    free: int


@dataclass(frozen=True, slots=True)
class Status:
    """How a data folder is doing. Times are ISO 8601 in UTC."""

    at: str
    data_dir: str
    running: bool
    problems: list[str]
    queue_rows: int
    queue_bytes: int
    queue_max_bytes: int
    lag: dict[str, Lag]
    destinations: list[Destination]
    quarantined_rows: int
    quarantine: list[SetAside]  # the latest first, some of them
    errors: list[Fault]  # the latest first
    disk: Disk
    lake: dict[str, int]  # empty: nothing published yet
    passed_over: dict[str, int]  # requests or evaluations that a destination had no more room for
    departed_spans: dict[str, int]  # since the folder was made, by why they left the lake: age, size


def look(config: Config, now: datetime) -> Status:
    """Look.

    Raises:
        UsageError: there is no data folder of ours.
        BrokenStore: a file in it is damaged.
    """
    wiring.require_data_dir(config, wiring.QUEUE_FILE)
    running, journal = is_held(config.data_dir), read_journal(config.data_dir)
    with wiring.look_into_queue(config) as queue:
        stats = queue.stats()
        outgoing = still_outgoing(queue, journal.waiting)
        lag = {
            name: _beside(_lag(queue, name, now) if name in stats.consumers else NO_LAG, outgoing.get(name), now)
            for name in sorted({*stats.consumers, *outgoing})
        }
        quarantine = queue.quarantined(MOST_SET_ASIDE)
        passed_over = queue.passed_over()
        departed = {reason: queue.mark(mark) for reason, mark in wiring.DEPARTED.items()}
    # Evaluations that are passed over rather than held are no consumer of the queue; the service tells of them alone.
    told = sorted({*lag, *journal.destinations} - {wiring.ANALYST})
    destinations = [_destination(name, journal, running=running) for name in told]
    fullness = stats.bytes / config.queue.max_bytes
    return Status(
        at=now.isoformat(timespec="milliseconds"),
        data_dir=str(config.data_dir.absolute()),
        running=running,
        problems=list(
            _problems(
                running=running,
                fullness=fullness,
                behind=lag.get(wiring.ANALYST, NO_LAG).seconds,
                destinations=destinations,
            )
        ),
        queue_rows=stats.rows,
        queue_bytes=stats.bytes,
        queue_max_bytes=config.queue.max_bytes,
        lag=lag,
        destinations=destinations,
        quarantined_rows=stats.quarantined,
        quarantine=[SetAside(row.offset, row.received_at.isoformat(), row.size, row.reason) for row in quarantine],
        errors=journal.errors[::-1],
        disk=_disk(config.data_dir),
        lake=_counts(config),
        passed_over=passed_over,
        departed_spans=departed,
    )


def _problems(*, running: bool, fullness: float, behind: float, destinations: list[Destination]) -> Iterator[str]:
    if not running:
        yield "no service is running"
    elif behind >= LONG_SECONDS:
        yield f"the analyst is {behind:,.0f} s behind"
    if fullness >= NEARLY_FULL:
        yield f"the queue is {fullness:.0%} full"
    for one in destinations:
        if one.state == "away":
            yield f"{one.consumer} has not answered since {one.since}"


def _beside(lag: Lag, outgoing: Outgoing | None, now: datetime) -> Lag:
    """Evaluations are spans that wait beside the queue, whether or not they hold rows of it."""
    if outgoing is None:
        return lag
    seconds = max(lag.seconds, round(outgoing.seconds(now), 3))
    return replace(lag, spans=outgoing.evaluations, seconds=seconds)


def _lag(queue: QueueStore, consumer: str, now: datetime) -> Lag:
    ahead = queue.backlog(consumer)
    rows = _sample(queue, queue.progress(consumer), ahead)
    sampled = sum(len(request) for row in rows for request in row.requests)
    requests = sum(len(row.requests) for row in rows)
    spans = sum(span_count(request) for row in rows for request in row.requests)
    estimated = ahead.rows > SAMPLE_ROWS
    share = ahead.bytes / sampled if estimated and sampled else 1.0
    return Lag(
        rows=ahead.rows,
        bytes=ahead.stored_bytes,
        requests=round(requests * share),
        spans=round(spans * share),
        estimated=estimated,
        seconds=round(ahead.seconds(now), 3),
    )


def _sample(queue: QueueStore, done: int, ahead: Backlog) -> list[Row]:
    """All rows that wait, or some from the whole length of the queue."""
    stride = max(ahead.rows / SAMPLE_ROWS, 1.0)
    starts = [done + int(number * stride) for number in range(min(ahead.rows, SAMPLE_ROWS))]
    found = {row.offset: row for start in starts if (row := queue.peek(start))}
    return list(found.values())


def _destination(consumer: str, journal: Content, *, running: bool) -> Destination:
    known = journal.destinations.get(consumer)
    if not (running and known):
        return Destination(consumer, "unknown", None)
    return Destination(consumer, "away" if known["away"] else "answers", known["since"])


def _disk(folder: Path) -> Disk:
    def size(pattern: str) -> int:
        return sum(_size(path) for path in folder.glob(pattern))

    free = shutil.disk_usage(folder).free
    return Disk(size(f"{wiring.QUEUE_FILE}*"), size(f"{wiring.STATE_FILE}*"), size("lake/**/*.parquet"), free)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # the service has just merged it into another
        return 0


def _counts(config: Config) -> dict[str, int]:
    if not wiring.is_published(config):
        return {}
    with wiring.open_catalogue(config) as catalogue:
        try:
            return {name: catalogue.execute(query).fetchall()[0][0] for name, query in _COUNTS.items()}
        except duckdb.Error as error:
            raise UsageError(str(error)) from error
