"""How much of the queue a consumer has still before it: looked up at its two ends, however much lies between."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from weaklink_processor.metrics import (
    LAG_SECONDS,
    LAG_SPANS,
    QUARANTINED_ROWS,
    QUEUE_BYTES,
    QUEUE_CAPACITY,
    QUEUE_ROWS,
    QUEUE_SIZE,
    Reading,
)
from weaklink_processor.queue.outgoing import Outgoing

if TYPE_CHECKING:
    from weaklink_processor.queue.store import QueueStore

SAMPLE_ROWS = 32
BACKLOG = f"""
    WITH first AS (SELECT offset, received_at, total - stored AS before FROM queue WHERE offset > :done
                   ORDER BY offset LIMIT 1),
         last AS (SELECT offset, total FROM queue ORDER BY offset DESC LIMIT 1),
         sample AS (SELECT CAST(sum(size) AS REAL) / sum(stored) AS inflation
                    FROM (SELECT size, stored FROM queue WHERE offset > :done ORDER BY offset LIMIT {SAMPLE_ROWS}))
    SELECT last.offset - first.offset + 1, last.total - first.before, sample.inflation, first.received_at
    FROM first, last, sample
"""  # noqa: S608  a number of our own


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a consumer has not done."""

    rows: int = 0  # those set aside among them too
    stored_bytes: int = 0  # compressed
    bytes: float = 0.0  # uncompressed: an estimate from the first rows
    oldest_received_at: datetime | None = None

    def seconds(self, now: datetime) -> float:
        """How long the oldest of it has waited."""
        return max((now - self.oldest_received_at).total_seconds(), 0.0) if self.oldest_received_at else 0.0


def backlog(db: sqlite3.Connection, done: int) -> Backlog:
    """Look at what follows an offset."""
    found = db.execute(BACKLOG, {"done": done}).fetchone()
    if found is None:
        return Backlog()
    rows, stored, inflation, received_at = found
    return Backlog(rows, stored, stored * (inflation or 1.0), datetime.fromtimestamp(received_at / 1e6, UTC))


def queue_readings(
    queue: "QueueStore",
    *,
    capacity: int,
    destinations: Mapping[str, str],
    outgoing: Mapping[str, Outgoing],
    bytes_per_span: float,
    now: datetime,
) -> Iterator[Reading]:
    """What the metrics show of a queue and of evaluations beside it.

    `destinations`: consumer -> what its exporter is called. `outgoing`: consumer -> evaluations that wait.
    """
    stats = queue.stats()
    yield Reading(QUEUE_ROWS, stats.rows)
    yield Reading(QUEUE_BYTES, stats.bytes)
    yield Reading(QUARANTINED_ROWS, stats.quarantined)
    held, beside = Counter[str](), Counter[str]()  # bytes by exporter
    for consumer in {*stats.consumers, *outgoing}:
        ahead = queue.backlog(consumer) if consumer in stats.consumers else Backlog()
        waiting = outgoing.get(consumer)
        seconds = max(ahead.seconds(now), waiting.seconds(now) if waiting else 0.0)
        yield Reading(LAG_SECONDS, seconds, {"consumer": consumer})
        spans = waiting.evaluations if waiting else round(ahead.bytes / bytes_per_span)
        yield Reading(LAG_SPANS, spans, {"consumer": consumer})
        if exporter := destinations.get(consumer):
            # Its evaluations hold some of the rows that its requests hold.
            held[exporter] = max(held[exporter], ahead.stored_bytes)
            beside[exporter] += waiting.bytes if waiting else 0
    for exporter in held:
        labels = {"exporter": exporter, "data_type": "traces"}
        yield Reading(QUEUE_SIZE, held[exporter] + beside[exporter], labels)
        yield Reading(QUEUE_CAPACITY, capacity, labels)
