"""What the emit worker reads: applied queue rows to forward, and the outbox, each behind its own durable progress."""

from collections.abc import Sequence

import duckdb

from weaklink_processor.emit.feed import Feed, ForwardRow, OutboxRow
from weaklink_processor.queue.store import QueueStore

READ_BYTES = 8_000_000
READ_SPANS = 2_048


def forward_feed(queue: QueueStore, state: duckdb.DuckDBPyConnection, consumer: str) -> Feed[ForwardRow]:
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
        return [ForwardRow(row.offset, row.requests, frozenset(own.get(row.offset, ()))) for row in rows]

    return Feed(read, lambda: queue.progress(consumer), lambda offset: queue.release(consumer, offset))


def outbox_feed(queue: QueueStore, state: duckdb.DuckDBPyConnection, mark: str) -> Feed[OutboxRow]:
    """EVALUATOR spans in the order in which they were made."""
    cursor = state.cursor()

    def read(after: int) -> Sequence[OutboxRow]:
        rows = cursor.execute(
            "SELECT seq, span, service_name, environment FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?",
            [after, READ_SPANS],
        ).fetchall()
        return [OutboxRow(*row) for row in rows]

    return Feed(read, lambda: queue.mark(mark), lambda seq: queue.set_mark(mark, seq))
