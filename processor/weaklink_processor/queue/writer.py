"""Group commit: whatever arrives during one commit becomes one row of the next.

The event loop gathers, one thread commits; nothing is shared between the two but the group handed over.
A request that is sent again while its first is waiting joins it; one whose first is durable is durable.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog

from weaklink_processor.errors import Overloaded, WeaklinkError
from weaklink_processor.queue.recent import Recent
from weaklink_processor.queue.store import QueueStore

ROW_BYTES = 4 << 20  # what a row may hold uncompressed; a larger request is a row of its own
LINGER_SECONDS = 0.005
CROWD = 8  # with more requests than this in flight, waiting for the rest of them makes larger groups

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How much may wait to be committed, and how long a client is kept waiting for it."""

    max_bytes: int = 128 << 20
    max_requests: int = 10_000
    max_seconds: float = 4.0


@dataclass(slots=True)
class _Waiting:
    request: bytes
    digest: bytes
    since: float  # loop time
    clients: list[asyncio.Future[None]]
    copies: int = 1  # of the request in memory: each client that joined holds one of its own


def utc_now() -> datetime:
    """Give the time of day that rows are stamped with."""
    return datetime.now(UTC)


class QueueWriter:
    """Appends to a store from one event loop."""

    def __init__(
        self,
        store: QueueStore,
        *,
        patience: Patience = Patience(),
        duplicate_window_seconds: float = 0.0,
        linger_seconds: float = LINGER_SECONDS,
        clock: Callable[[], datetime] = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Requests of the last `duplicate_window_seconds` are not stored again, nor those of an earlier process."""
        self._store = store
        self._patience = patience
        self._linger_seconds = linger_seconds
        self._clock = clock
        self._recent = Recent(duplicate_window_seconds, clock=monotonic)
        self._recent.restore(store.arrivals(clock() - self._recent.window), clock())
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="queue-writer")
        self._pending: deque[_Waiting] = deque()
        self._uncommitted: dict[bytes, _Waiting] = {}  # by digest, those of the group being committed too
        self._held_bytes = self._held_requests = 0  # of the group being committed too
        self._crowd = 0  # requests in flight when the last group was committed
        self._crowd_is_back = asyncio.Event()
        self._commits: asyncio.Task[None] | None = None
        self._stopped = False

    async def append(self, request: bytes) -> None:
        """Return when `request` is durable.

        Overloaded: the store refuses it, too much is waiting, or it takes too long. In the last case it may still
        become durable, and is known when it is sent again.
        """
        if self._stopped:
            raise Overloaded("the queue is stopping")
        digest = self._recent.digest(request)
        if digest in self._recent:
            return
        self._check_room()
        loop = asyncio.get_running_loop()
        client: asyncio.Future[None] = loop.create_future()
        if waiting := self._uncommitted.get(digest):
            self._hold(waiting, 1)
            waiting.copies += 1
            waiting.clients.append(client)
        else:
            self._enqueue(_Waiting(request, digest, loop.time(), [client]))
        try:
            await client
        finally:
            del client  # its error's traceback has this frame: a cycle, which would keep the request

    async def stop(self) -> None:
        """Refuse what comes from now on, and return when all that came before is committed."""
        self._stopped = True
        self._crowd_is_back.set()
        if self._commits is not None:
            await self._commits
        self._thread.shutdown()

    def _check_room(self) -> None:
        if self._held_bytes >= self._patience.max_bytes:
            limit = self._patience.max_bytes
            raise Overloaded(f"{self._held_bytes} bytes wait to be written, and {limit} is the limit")
        if self._held_requests >= self._patience.max_requests:
            limit = self._patience.max_requests
            raise Overloaded(f"{self._held_requests} requests wait to be written, and {limit} is the limit")

    def _enqueue(self, waiting: _Waiting) -> None:
        self._hold(waiting, 1)
        self._pending.append(waiting)
        if waiting.digest:
            self._uncommitted[waiting.digest] = waiting
        if self._worth_committing():
            self._crowd_is_back.set()
        if self._commits is None or self._commits.done():
            self._commits = asyncio.create_task(self._commit_pending())

    def _hold(self, waiting: _Waiting, copies: int) -> None:
        """Keep count of copies in memory, or with a number below zero of those that are gone."""
        self._held_bytes += copies * len(waiting.request)
        self._held_requests += copies

    async def _commit_pending(self) -> None:
        while self._pending:
            await self._linger()
            group = self._next_group()
            failure = await self._commit(group)
            self._crowd = len(group) + len(self._pending)
            for waiting in group:
                self._uncommitted.pop(waiting.digest, None)
                self._hold(waiting, -waiting.copies)
                _answer(waiting, failure)

    async def _linger(self) -> None:
        """Give a crowd the time to come back after its last answers; a few clients never wait."""
        self._crowd_is_back.clear()
        if not self._stopped and not self._worth_committing():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._linger_seconds):
                    await self._crowd_is_back.wait()

    def _worth_committing(self) -> bool:
        return self._crowd <= CROWD or len(self._pending) >= self._crowd or self._held_bytes >= ROW_BYTES

    def _next_group(self) -> list[_Waiting]:
        group = [self._pending.popleft()]
        size = len(group[0].request)
        while self._pending and size + len(self._pending[0].request) <= ROW_BYTES:
            group.append(self._pending.popleft())
            size += len(group[-1].request)
        return group

    async def _commit(self, group: Sequence[_Waiting]) -> WeaklinkError | None:
        digests = [waiting.digest for waiting in group if waiting.digest]
        requests = [waiting.request for waiting in group]
        append = partial(self._store.append, requests, self._clock(), digests=digests, forget=self._recent.forgotten)
        try:
            offset = await self._patiently(asyncio.get_running_loop().run_in_executor(self._thread, append), group)
        except WeaklinkError as error:
            return error.with_traceback(None)  # in which the group would be kept until the next garbage collection
        except Exception as error:  # whatever it is, everyone in the group must get an answer
            log.exception("queue append failed")
            return WeaklinkError(f"queue append failed: {error}")
        self._recent.add(offset, digests)
        return None

    async def _patiently(self, commit: asyncio.Future[int], group: Sequence[_Waiting]) -> int:
        """Wait for a commit to end, and meanwhile send away who has waited too long."""
        limit = self._patience.max_seconds
        while not (await asyncio.wait((commit,), timeout=limit / 4))[0]:
            since = asyncio.get_running_loop().time() - limit
            for waiting in (each for each in (*group, *self._pending) if each.since <= since):
                _answer(waiting, Overloaded(f"the disk has not confirmed it within {limit:g} s"))
                self._hold(waiting, 1 - waiting.copies)
                waiting.copies = 1
        return commit.result()


def _answer(waiting: _Waiting, failure: WeaklinkError | None) -> None:
    for client in waiting.clients:
        if client.done():  # it has gone
            continue
        if failure is None:
            client.set_result(None)
        else:  # one each: a shared one would gather every waiter's traceback
            client.set_exception(type(failure)(str(failure)))
    waiting.clients.clear()
