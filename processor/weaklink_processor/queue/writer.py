"""Group commit: whatever arrives during one commit becomes one row of the next.

The event loop gathers, one thread commits; nothing is shared between the two but the group handed over.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from weaklink_processor.errors import Overloaded, WeaklinkError
from weaklink_processor.queue.store import QueueStore

ROW_BYTES = 4 << 20  # what a row may hold uncompressed; a larger request is a row of its own
MAX_PENDING_BYTES = 256 << 20
LINGER_SECONDS = 0.005
CROWD = 8  # with more requests than this in flight, waiting for the rest of them makes larger groups

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    request: bytes
    done: asyncio.Future[None]


def utc_now() -> datetime:
    """Give the time of day that rows are stamped with."""
    return datetime.now(UTC)


class QueueWriter:
    """Appends to a store from one event loop."""

    def __init__(
        self,
        store: QueueStore,
        *,
        max_pending_bytes: int = MAX_PENDING_BYTES,
        linger_seconds: float = LINGER_SECONDS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._store = store
        self._max_pending_bytes = max_pending_bytes
        self._linger_seconds = linger_seconds
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="queue-writer")
        self._pending: deque[_Waiting] = deque()
        self._pending_bytes = 0  # of the group being committed too
        self._crowd = 0  # requests in flight when the last group was committed
        self._crowd_is_back = asyncio.Event()
        self._commits: asyncio.Task[None] | None = None
        self._stopped = False

    async def append(self, request: bytes) -> None:
        """Return when `request` is durable; Overloaded when the store refuses it, or too much is waiting."""
        if self._stopped:
            raise Overloaded("the queue is stopping")
        if self._pending_bytes >= self._max_pending_bytes:
            raise Overloaded(
                f"{self._pending_bytes} bytes wait to be written, and {self._max_pending_bytes} is the limit"
            )
        waiting = _Waiting(request, asyncio.get_running_loop().create_future())
        self._pending.append(waiting)
        self._pending_bytes += len(request)
        if self._worth_committing():
            self._crowd_is_back.set()
        if self._commits is None or self._commits.done():
            self._commits = asyncio.create_task(self._commit_pending())
        await waiting.done

    async def stop(self) -> None:
        """Refuse what comes from now on, and return when all that came before is committed."""
        self._stopped = True
        self._crowd_is_back.set()
        if self._commits is not None:
            await self._commits
        self._thread.shutdown()

    async def _commit_pending(self) -> None:
        while self._pending:
            await self._linger()
            group = self._next_group()
            failure = await self._commit(group)
            self._crowd = len(group) + len(self._pending)
            for waiting in group:
                self._pending_bytes -= len(waiting.request)
                _answer(waiting.done, failure)

    async def _linger(self) -> None:
        """Give a crowd the time to come back after its last answers; a few clients never wait."""
        self._crowd_is_back.clear()
        if not self._stopped and not self._worth_committing():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._linger_seconds):
                    await self._crowd_is_back.wait()

    def _worth_committing(self) -> bool:
        return self._crowd <= CROWD or len(self._pending) >= self._crowd or self._pending_bytes >= ROW_BYTES

    def _next_group(self) -> list[_Waiting]:
        group = [self._pending.popleft()]
        size = len(group[0].request)
        while self._pending and size + len(self._pending[0].request) <= ROW_BYTES:
            group.append(self._pending.popleft())
            size += len(group[-1].request)
        return group

    async def _commit(self, group: list[_Waiting]) -> WeaklinkError | None:
        requests = [waiting.request for waiting in group]
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._store.append, requests, self._clock())
        except WeaklinkError as error:
            return error
        except Exception as error:  # whatever it is, everyone in the group must get an answer
            log.exception("queue append failed")
            return WeaklinkError(f"queue append failed: {error}")
        return None


def _answer(done: asyncio.Future[None], failure: WeaklinkError | None) -> None:
    if done.done():  # its client has gone
        return
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(type(failure)(str(failure)))  # one each: a shared one would gather every waiter's traceback
