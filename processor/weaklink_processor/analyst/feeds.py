"""What the emit worker reads: applied queue rows to forward, and the outbox, each behind its own durable progress."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_processor.analyst.state import State
from weaklink_processor.emit.enrich import span_keys
from weaklink_processor.emit.feed import Feed, ForwardRow, MemoryNumbers, OutboxRow, SpanKey
from weaklink_processor.queue.store import QueueStore

READ_BYTES = 8_000_000
READ_SPANS = 2_048

NumbersOf: TypeAlias = Callable[[Iterable[bytes]], Mapping[SpanKey, MemoryNumbers]]
"""Requests -> the numbers of those of their spans that are to be enriched."""


def memory_numbers(state: State, settings: Settings) -> NumbersOf:
    """The numbers of memory spans as they are in the state at the time of the call."""
    # As below: an engine and a cursor of the worker's own.
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
    queue: QueueStore, state: State, consumer: str, numbers_of: NumbersOf = no_numbers
) -> Feed[ForwardRow]:
    """Rows that the analyst is done with: until then it is not known which spans in them are weaklink's own."""
    # Made here, on the analyst's thread; used on the worker's only.
    cursor = state.cursor()

    def read(after: int) -> Sequence[ForwardRow]:
        applied = cursor.execute("SELECT queue_offset FROM applied WHERE queue_id = ?", [queue.id]).fetchall()
        limit = applied[0][0] if applied else 0
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

    return Feed(read, lambda: queue.progress(consumer), lambda offset: queue.release(consumer, offset))


def outbox_feed(queue: QueueStore, state: State, mark: str) -> Feed[OutboxRow]:
    """EVALUATOR spans in the order in which they were made."""
    cursor = state.cursor()

    def read(after: int) -> Sequence[OutboxRow]:
        rows = cursor.execute(
            "SELECT seq, span, service_name, environment FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?",
            [after, READ_SPANS],
        ).fetchall()
        return [OutboxRow(*row) for row in rows]

    return Feed(read, lambda: queue.mark(mark), lambda seq: queue.set_mark(mark, seq))
