"""A request that is sent again is stored once, and acknowledged only when it is durable."""

import asyncio
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores import GatedStore
from weaklink_processor.errors import Overloaded
from weaklink_processor.queue.recent import Recent
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.queue.writer import QueueWriter

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1 << 30
WINDOW = 60.0

pytestmark = pytest.mark.anyio


class Clock:
    """Time of day and a monotonic clock, both moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[GatedStore]:
    with closing(GatedStore.open(path, max_bytes=PLENTY)) as store:
        store.gate.set()
        yield store
        store.gate.set()


def writer_of(store: QueueStore, clock: Clock, window: float = WINDOW) -> QueueWriter:
    return QueueWriter(store, duplicate_window_seconds=window, clock=clock.now, monotonic=clock.monotonic)


def stored(store: QueueStore) -> list[bytes]:
    return [request for row in store.read(0, PLENTY) for request in row.requests]


def remembered(store: QueueStore) -> int:
    """How many digests are on disk."""
    return sum(len(arrival.digests) for arrival in store.arrivals(NOON - timedelta(days=1)))


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_durable_request_is_stored_once(store: GatedStore, clock: Clock) -> None:
    """Within the window the same bytes are acknowledged without a second entry; one other byte is another request."""
    writer = writer_of(store, clock)
    for request in (b"a", b"b", b"a", b"a ", b"b"):
        await writer.append(request)
    clock.seconds += WINDOW - 0.001
    await writer.append(b"a")
    await writer.stop()
    assert stored(store) == [b"a", b"b", b"a "]


async def test_a_request_is_known_when_its_row_is_gone(store: GatedStore, clock: Clock) -> None:
    """It makes no difference whether what was stored first is still in the queue."""
    store.register("analyst")
    writer = writer_of(store, clock)
    await writer.append(b"a")
    store.release("analyst", 1)
    await writer.append(b"a")
    await writer.stop()
    assert (store.stats().rows, store.stats().last_offset) == (0, 1)


async def test_beyond_the_window_it_is_a_new_request(store: GatedStore, clock: Clock) -> None:
    """After the window the same bytes are stored again, and what was remembered is gone from memory and disk."""
    store.register("analyst")
    writer = writer_of(store, clock)
    for number in range(20):
        await writer.append(b"%d" % number)
    store.release("analyst", 20)
    clock.seconds += WINDOW
    await writer.append(b"0")
    await writer.append(b"1")
    assert stored(store) == [b"0", b"1"]
    assert (remembered(store), len(writer._recent._known)) == (2, 2)
    await writer.stop()


async def test_switched_off(store: GatedStore, clock: Clock) -> None:
    """With a window of 0 every request is stored, at once or one after the other, and nothing is remembered."""
    writer = writer_of(store, clock, 0.0)
    await asyncio.gather(*(writer.append(b"a") for _ in range(3)))
    await writer.append(b"a")
    await writer.stop()
    assert stored(store) == [b"a"] * 4
    assert remembered(store) == 0


async def test_a_retry_waits_for_its_first(store: GatedStore, clock: Clock) -> None:
    """While the first is being committed the second is not answered; then both are, and one is stored."""
    store.gate.clear()
    writer = writer_of(store, clock)
    first, second = asyncio.create_task(writer.append(b"a")), asyncio.create_task(writer.append(b"a"))
    await settle()
    late = asyncio.create_task(writer.append(b"a"))  # its first is in the hands of the committing thread
    await settle()
    assert not any(task.done() for task in (first, second, late))
    store.gate.set()
    await asyncio.gather(first, second, late)
    await writer.stop()
    assert stored(store) == [b"a"]


async def test_a_retry_shares_the_fate_of_its_first(store: GatedStore, clock: Clock) -> None:
    """When the first cannot be stored neither is acknowledged; the next attempt is a new one."""
    store.gate.clear()
    store.error = Overloaded("disk full")
    writer = writer_of(store, clock)
    both = [asyncio.create_task(writer.append(b"a")) for _ in range(2)]
    await settle()
    store.gate.set()
    answers = await asyncio.gather(*both, return_exceptions=True)
    assert [str(answer) for answer in answers] == ["disk full", "disk full"]
    store.error = None
    await writer.append(b"a")
    await writer.stop()
    assert stored(store) == [b"a"]


async def test_the_client_of_the_first_may_leave(store: GatedStore, clock: Clock) -> None:
    """A retry is acknowledged also when the client that sent the first is gone: the usual reason for a retry."""
    store.gate.clear()
    writer = writer_of(store, clock)
    first = asyncio.create_task(writer.append(b"a"))
    await settle()
    retry = asyncio.create_task(writer.append(b"a"))
    await settle()
    first.cancel()
    await settle()
    store.gate.set()
    await retry
    await writer.stop()
    assert first.cancelled()
    assert stored(store) == [b"a"]


async def test_known_after_a_restart(path: Path, clock: Clock) -> None:
    """A writer of another process knows what was stored within the window, released or not, and nothing older."""
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        store.register("analyst")
        writer = writer_of(store, clock)
        await writer.append(b"old")
        clock.seconds += 30
        await writer.append(b"released")
        store.release("analyst", 2)
        await writer.append(b"waiting")
        await writer.stop()
    clock.seconds += 30
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        writer = writer_of(store, clock)
        for request in (b"waiting", b"released", b"old"):
            await writer.append(request)
        assert stored(store) == [b"waiting", b"old"]
        clock.seconds += 30  # since they were stored, 60: how long the restart took does not prolong it
        await writer.append(b"released")
        assert stored(store) == [b"waiting", b"old", b"released"]
        await writer.stop()


COMMIT_AND_DIE = """
import asyncio, os, sys
from pathlib import Path
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.queue.writer import QueueWriter

class Dying(QueueStore):
    def append(self, *args, **kwargs):
        super().append(*args, **kwargs)
        os.kill(os.getpid(), 9)

async def main():
    await QueueWriter(Dying.open(Path(sys.argv[1]), max_bytes=1 << 30), duplicate_window_seconds=60).append(b"a" * 1000)

asyncio.run(main())
"""


async def test_killed_between_commit_and_acknowledgement(path: Path) -> None:
    """What is durable and was never acknowledged is known when it comes again, and stored once."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", COMMIT_AND_DIE, path)
    assert await process.wait() == -signal.SIGKILL
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        writer = QueueWriter(store, duplicate_window_seconds=60)
        await writer.append(b"a" * 1000)
        await writer.stop()
        assert stored(store) == [b"a" * 1000]


async def test_a_clock_set_back_prolongs_nothing(path: Path, clock: Clock) -> None:
    """After a restart what seems to come from the future is remembered for the window, and no longer."""
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        clock.seconds = 3600
        before = writer_of(store, clock)
        await before.append(b"a")
        await before.stop()
        clock.seconds = 0
        writer = writer_of(store, clock)
        await writer.append(b"a")
        assert stored(store) == [b"a"]
        clock.seconds = WINDOW
        await writer.append(b"a")
        await writer.stop()
        assert stored(store) == [b"a", b"a"]


def test_memory_is_bounded() -> None:
    """However many there are within the window, no more than `max_requests` are remembered: the newest."""
    recent = Recent(WINDOW, max_requests=100, clock=lambda: 0.0)
    digests = [recent.digest(b"%d" % number) for number in range(1000)]
    for offset in range(100):
        recent.add(offset + 1, digests[offset * 10 : offset * 10 + 10])
    assert [digest in recent for digest in digests] == [False] * 900 + [True] * 100
    assert recent.forgotten == 90


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 40)), max_size=60))
def test_known_exactly_within_the_window(arrivals: list[tuple[int, float]]) -> None:
    """A request is known if, and only if, the last time it was stored is less than the window ago."""
    clock = Clock()
    recent = Recent(WINDOW, clock=clock.monotonic)
    last: dict[int, float] = {}
    for offset, (number, pause) in enumerate(arrivals, 1):
        clock.seconds += pause
        digest = recent.digest(b"%d" % number)
        known = number in last and clock.seconds < last[number] + WINDOW
        assert (digest in recent) == known
        if not known:
            last[number] = clock.seconds
            recent.add(offset, [digest])


async def test_clients_that_repeat_themselves(store: GatedStore, clock: Clock) -> None:
    """Many clients that send each request several times, all at once: each is stored exactly once."""
    writer = writer_of(store, clock)
    requests = [b"%d" % number for number in range(200)] * 4
    random.Random(7).shuffle(requests)

    async def client(number: int) -> None:
        for request in requests[number::40]:
            await writer.append(request)

    async with asyncio.TaskGroup() as clients:
        for number in range(40):
            clients.create_task(client(number))
    await writer.stop()
    assert sorted(stored(store)) == sorted(set(requests))
