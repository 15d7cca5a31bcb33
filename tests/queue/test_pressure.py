"""What is refused before it is stored, and what senders are kept waiting for."""

import asyncio
import gc
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stores import GatedStore
from turns import TIMED
from weaklink_processor.errors import Overloaded
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.queue.writer import Patience, QueueWriter

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1 << 30

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue.sqlite"


@pytest.fixture
def gated(path: Path) -> Iterator[GatedStore]:
    with closing(GatedStore.open(path, max_bytes=PLENTY)) as store:
        yield store
        store.gate.set()


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def answers(*appends: asyncio.Task[None]) -> list[str]:
    """How each ended: '' for success."""
    return [str(answer or "") for answer in await asyncio.gather(*appends, return_exceptions=True)]


def test_a_queue_of_many_requests_refuses_until_released(path: Path) -> None:
    """At `max_requests` an append is Overloaded and leaves nothing, also after a restart; a release makes room."""
    for _ in range(2):
        with closing(QueueStore.open(path, max_bytes=PLENTY, max_requests=5)) as store:
            store.register("analyst")
            while store.stats().requests < 5:
                store.append([b"x"] * 3, NOON)
            with pytest.raises(Overloaded, match="holds 6 requests, and 5 is its limit"):
                store.append([b"x"], NOON)
            assert (store.stats().rows, store.stats().requests) == (2, 6)
    with closing(QueueStore.open(path, max_bytes=PLENTY, max_requests=5)) as store:
        store.release("analyst", 1)
        assert store.append([b"x"], NOON) == 3
        store.release("analyst", 3)
        assert store.stats().requests == 0


async def test_what_is_refused_is_let_go_of(path: Path) -> None:
    """Refusals keep nothing of requests, but perhaps of the last, without waiting for the garbage collector."""
    request = bytes(100_000)
    gc.disable()
    try:
        with closing(QueueStore.open(path, max_bytes=PLENTY, max_requests=1)) as store:
            store.register("analyst")
            store.append([b"x"], NOON)
            writer, before = QueueWriter(store), sys.getrefcount(request)
            for _ in range(10):
                with pytest.raises(Overloaded):
                    await writer.append(request)
            await writer.stop()
            assert sys.getrefcount(request) <= before + 1
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("patience", "complaint"),
    [
        (Patience(max_bytes=1000), "1200 bytes wait to be written, and 1000 is the limit"),
        (Patience(max_requests=2), "2 requests wait to be written, and 2 is the limit"),
    ],
)
@pytest.mark.parametrize("same", [True, False])
async def test_too_much_waiting_is_overload(
    gated: GatedStore,
    patience: Patience,
    complaint: str,
    same: bool,  # noqa: FBT001
) -> None:
    """At a bound of what is not yet durable an append is refused; when all is committed, taken again.

    A request that waits twice counts twice, since its sender's copy is in memory too.
    """
    writer = QueueWriter(gated, patience=patience, duplicate_window_seconds=60)
    requests = [bytes(600), bytes(600) if same else bytes(599) + b"x"]
    async with asyncio.TaskGroup() as clients:
        for request in requests:
            clients.create_task(writer.append(request))
        await settle()
        with pytest.raises(Overloaded, match=complaint):
            await writer.append(b"x")
        gated.gate.set()
    await writer.append(b"x")
    assert [request for row in gated.read(0, PLENTY) for request in row.requests] == [*dict.fromkeys(requests), b"x"]
    await writer.stop()


@TIMED
async def test_nothing_waits_for_a_slow_disk_for_ever(gated: GatedStore) -> None:
    """After `max_seconds` a client is told to come back; what it sent still counts, becomes durable, and is known."""
    writer = QueueWriter(gated, patience=Patience(max_bytes=10, max_seconds=0.2), duplicate_window_seconds=60)
    began = time.monotonic()
    first, second = asyncio.create_task(writer.append(b"first")), asyncio.create_task(writer.append(b"first"))
    complaint = "the disk has not confirmed it within 0.2 s"
    assert await answers(first, second) == [complaint, complaint]
    assert 0.2 <= time.monotonic() - began < 2
    with pytest.raises(Overloaded, match=complaint):  # it joins the one that still waits
        await writer.append(b"first")
    last = asyncio.create_task(writer.append(b"second"))
    await settle()
    with pytest.raises(Overloaded, match="11 bytes wait to be written"):
        await writer.append(b"third")
    gated.gate.set()
    await last
    await writer.append(b"first")
    await writer.stop()
    assert [row.requests for row in gated.read(0, PLENTY)] == [[b"first"], [b"second"]]


async def test_another_process_in_the_way_is_waited_for(path: Path) -> None:
    """While another process holds the queue, requests wait, are refused in time, and are stored once it lets go."""
    with (
        closing(QueueStore.open(path, max_bytes=PLENTY)) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        writer = QueueWriter(store, patience=Patience(max_seconds=1), duplicate_window_seconds=60)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Overloaded, match="within 1 s"):
            await writer.append(b"x")
        other.execute("ROLLBACK")
        await writer.append(b"x")
        await writer.stop()
        assert [row.requests for row in store.read(0, PLENTY)] == [[b"x"]]
