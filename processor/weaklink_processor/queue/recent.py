"""Requests that are durable, remembered for a while by what they hold, so that one sent again is not stored again.

A client that got no answer, or one that came too late, sends the same bytes once more.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from blake3 import blake3

from weaklink_processor.queue.store import Arrival

MAX_REQUESTS = 200_000
"""About 30 MB; with more of them within the window the oldest are forgotten sooner."""


class Recent:
    """The digests of what was stored within the window; not for several threads."""

    def __init__(
        self,
        window_seconds: float,
        *,
        max_requests: int = MAX_REQUESTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """With a window of 0 no request is ever known."""
        self._window_seconds, self._max_requests, self._clock = window_seconds, max_requests, clock
        self._groups: deque[tuple[float, int, Sequence[bytes]]] = deque()  # when it ends, its offset, its digests
        self._known: set[bytes] = set()
        self.forgotten = 0
        """Up to this offset nothing has to be remembered any more."""

    @property
    def window(self) -> timedelta:
        """For how long a request is remembered."""
        return timedelta(seconds=self._window_seconds)

    def digest(self, request: bytes) -> bytes:
        """What a request is known by, 32 bytes that nobody finds two requests for; empty with a window of 0.

        BLAKE3: 6 GB/s on the machine of docs/performance.md, where SHA-256 does 1.8 and BLAKE2b 0.95.
        """
        return blake3(request).digest() if self._window_seconds else b""

    def __contains__(self, digest: bytes) -> bool:
        self._forget()
        return digest in self._known

    def add(self, offset: int, digests: Sequence[bytes], age_seconds: float = 0.0) -> None:
        """Remember the requests of a row that became durable this long ago."""
        ends = self._clock() + self._window_seconds - age_seconds
        self._groups.append((ends, offset, digests))
        self._known.update(digests)
        self._forget()

    def restore(self, arrivals: Iterable[Arrival], now: datetime) -> None:
        """Remember what an earlier process has stored."""
        for arrival in arrivals:
            # A clock that was set back makes no request younger than one of now.
            age = max((now - arrival.received_at).total_seconds(), 0.0)
            self.add(arrival.offset, arrival.digests, age)

    def _forget(self) -> None:
        now = self._clock()
        while self._groups and (self._groups[0][0] <= now or len(self._known) > self._max_requests):
            _, self.forgotten, digests = self._groups.popleft()
            self._known.difference_update(digests)
