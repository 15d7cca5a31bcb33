"""Evaluations that are told only where the spans that they judge have gone before."""

import sys
from collections import deque
from collections.abc import Collection

from weaklink_processor.analyst.state import State
from weaklink_processor.queue.store import QueueStore

MOST = 1000
"""Points that are kept, about one a second while spans lag behind; more are merged, so that evaluations wait longer."""

NEWEST = """
    SELECT
        coalesce((SELECT queue_offset FROM applied WHERE queue_id = $queue), 0),
        coalesce((SELECT max(seq) FROM outbox), 0)
"""


class Following:
    """How far evaluations may be told to a destination that gets the original spans from these consumers."""

    def __init__(self, queue: QueueStore, state: State, consumers: Collection[str]) -> None:
        self._queue, self._consumers = queue, consumers
        self._cursor = state.cursor()
        self._points: deque[tuple[int, int]] = deque()  # (queue offset, last evaluation made until that was applied)
        self._seq = 0

    def newest(self) -> int:
        """Return the last evaluation that was made from nothing but rows that each of the consumers is done with."""
        if not self._consumers:
            return sys.maxsize
        offset, seq = self._cursor.execute(NEWEST, {"queue": self._queue.id}).fetchall()[0]
        done = min(self._queue.progress(name) for name in self._consumers)
        if not self._points or self._points[-1] != (offset, seq):
            if len(self._points) == MOST:
                self._points.pop()
            self._points.append((offset, seq))
        while self._points and self._points[0][0] <= done:
            self._seq = max(self._seq, self._points.popleft()[1])
        return self._seq
