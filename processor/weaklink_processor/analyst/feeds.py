"""What emit workers read: applied queue rows to forward, and the outbox, behind durable progress a destination."""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import duckdb
import pyarrow as pa

from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_processor.analyst.state import State
from weaklink_processor.emit.enrich import span_keys
from weaklink_processor.emit.feed import Feed, ForwardRow, MemoryNumbers, OutboxRow, SpanKey
from weaklink_processor.queue.outgoing import Outgoing
from weaklink_processor.queue.store import QueueStore

READ_BYTES = 8_000_000
READ_SPANS = 2_048

WAITING = """
    SELECT seq, span, service_name, environment FROM outbox
    WHERE seq > $after AND seq <= $until AND list_contains($scopes, coalesce(scope, 'trace'))
    ORDER BY seq LIMIT $most
"""
NEWEST = """
    SELECT
        coalesce((SELECT queue_offset FROM applied WHERE queue_id = $queue), 0),
        coalesce((SELECT max(seq) FROM outbox WHERE list_contains($scopes, coalesce(scope, 'trace'))), 0)
"""
IS_TOO_MUCH = """
    SELECT coalesce(sum(size), 0) > $room FROM outbox
    WHERE seq > $after AND list_contains($scopes, coalesce(scope, 'trace'))
"""
TOO_MUCH = """
    WITH waiting AS (
        SELECT seq, sum(size) OVER (ORDER BY seq DESC) AS size FROM outbox
        WHERE seq > $after AND list_contains($scopes, coalesce(scope, 'trace'))
    )
    SELECT max(seq) FROM waiting WHERE size > $room
"""

OUTGOING = """
    SELECT coalesce(max(seq), 0), count(*), coalesce(sum(size), 0), min(made_at) FROM outbox
    WHERE seq > $after AND list_contains($scopes, coalesce(scope, 'trace'))
"""

NumbersOf: TypeAlias = Callable[[Iterable[bytes]], Mapping[SpanKey, MemoryNumbers]]
"""Requests -> the numbers of those of their spans that are to be enriched."""


@dataclass(frozen=True, slots=True)
class _Newest:
    offset: int  # the last queue row that is applied
    seq: int  # the last evaluation that was made until then


def memory_numbers(state: State, settings: Settings) -> NumbersOf:
    """The numbers of memory spans as they are in the state at the time of the call."""
    # As below: an engine and a cursor of the lane's own.
    engine = Engine(state.cursor(), settings)

    def numbers_of(requests: Iterable[bytes]) -> Mapping[SpanKey, MemoryNumbers]:
        keys = [key for request in requests for key in span_keys(request)]
        traces = pa.array([trace for trace, _ in keys], pa.binary(16))
        spans = pa.array([int.from_bytes(span) for _, span in keys], pa.uint64())
        asked = pa.table({"trace": pa.ExtensionArray.from_storage(pa.uuid(), traces), "span": spans})
        rows = engine.weakest(asked).to_pylist() if keys else []
        return {_key(row.pop("trace_id"), row.pop("span_id")): MemoryNumbers(**row) for row in rows}

    return numbers_of


def _key(trace_id: str, span_id: str) -> SpanKey:
    return bytes.fromhex(trace_id), bytes.fromhex(span_id)


def no_numbers(_: Iterable[bytes]) -> Mapping[SpanKey, MemoryNumbers]:
    """Nothing is to be enriched."""
    return {}


def forward_feed(
    queue: QueueStore,
    state: State,
    consumer: str,
    numbers_of: NumbersOf = no_numbers,
    max_bytes: int | None = None,
) -> Feed[ForwardRow]:
    """Rows that the analyst is done with: until then it is not known which spans in them are weaklink's own.

    `max_bytes`: how much of them may wait, as stored; None: as much as the queue holds.
    """
    # Made here, on the analyst's thread; used on the lane's only.
    cursor = state.cursor()

    def read(after: int) -> Sequence[ForwardRow]:
        limit = _applied(cursor, queue)
        if after >= limit:
            return []
        rows = [row for row in queue.read(after, READ_BYTES) if row.offset <= limit]
        own: dict[int, set[tuple[bytes, bytes]]] = {}
        for offset, trace, span in cursor.execute(
            "SELECT queue_offset, trace, span FROM returned WHERE queue_offset > ? AND queue_offset <= ?",
            [after, rows[-1].offset if rows else after],
        ).fetchall():
            own.setdefault(offset, set()).add((trace.bytes, span.to_bytes(8)))
        numbers = numbers_of(request for row in rows for request in row.requests)
        return [ForwardRow(row.offset, row.requests, frozenset(own.get(row.offset, ())), numbers) for row in rows]

    def overflow() -> int:
        if max_bytes is None:
            return 0
        return queue.overflow(queue.progress(consumer), _applied(cursor, queue), max_bytes)

    return Feed(
        read,
        lambda: queue.progress(consumer),
        lambda offset: queue.release(consumer, offset),
        overflow,
        partial(queue.pass_over, consumer),
    )


def outbox_feed(
    queue: QueueStore,
    state: State,
    mark: str,
    scopes: Collection[str],
    *,
    consumer: str,
    max_bytes: int | None = None,
    until: Callable[[], int] = lambda: sys.maxsize,
) -> Feed[OutboxRow]:
    """EVALUATOR spans of these scopes in the order in which they were made, as far as those up to `until()`.

    `max_bytes`: how much of them may wait. None: no queue row is released under `consumer` before the evaluations are
    settled that were made until it was applied. So evaluations that wait hold up senders as requests do.
    """
    cursor = state.cursor()
    known = {"scopes": list(scopes)}
    goal = _Newest(0, 0)

    def read(after: int) -> Sequence[OutboxRow]:
        nonlocal goal
        if max_bytes is None:
            newest = _Newest(*cursor.execute(NEWEST, known | {"queue": queue.id}).fetchall()[0])
            # What was read is settled before more is read, so everything up to `after` is.
            settled = next((point for point in (newest, goal) if point.seq <= after), None)
            if settled:
                goal = newest
                if settled.offset > queue.progress(consumer):
                    queue.release(consumer, settled.offset)
        rows = cursor.execute(WAITING, known | {"after": after, "until": until(), "most": READ_SPANS}).fetchall()
        return [OutboxRow(*row) for row in rows]

    def overflow() -> int:
        asked = known | {"after": queue.mark(mark), "room": max_bytes}
        if max_bytes is None or not cursor.execute(IS_TOO_MUCH, asked).fetchall()[0][0]:
            return 0
        return int(cursor.execute(TOO_MUCH, asked).fetchall()[0][0])

    return Feed(
        read,
        lambda: queue.mark(mark),
        lambda seq: queue.set_mark(mark, seq),
        overflow,
        partial(queue.pass_over, consumer),
    )


def outgoing_counter(queue: QueueStore, state: State, mark: str, scopes: Collection[str]) -> Callable[[], Outgoing]:
    """Return what counts the evaluations of these scopes that wait, for one thread."""
    cursor = state.cursor()

    def count() -> Outgoing:
        asked = {"scopes": list(scopes), "after": queue.mark(mark)}
        newest, evaluations, size, since = cursor.execute(OUTGOING, asked).fetchall()[0]
        return Outgoing(mark, newest, evaluations, int(size), since)

    return count


def _applied(cursor: duckdb.DuckDBPyConnection, queue: QueueStore) -> int:
    rows = cursor.execute("SELECT queue_offset FROM applied WHERE queue_id = ?", [queue.id]).fetchall()
    return int(rows[0][0]) if rows else 0
