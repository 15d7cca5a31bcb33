"""Group commit, on a real store."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stores import GatedStore
from weaklink_processor.errors import Overloaded, WeaklinkError
from weaklink_processor.queue.store import QueueStore, Row
from weaklink_processor.queue.writer import CROWD, ROW_BYTES, QueueWriter

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1 << 30

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QueueStore]:
    with closing(QueueStore.open(tmp_path / "queue.sqlite", max_bytes=PLENTY)) as store:
        yield store


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[GatedStore]:
    with closing(GatedStore.open(tmp_path / "queue.sqlite", max_bytes=PLENTY)) as store:
        yield store
        store.gate.set()


def rows(store: QueueStore) -> list[Row]:
    return store.read(0, PLENTY)


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_appended_is_stored(store: QueueStore) -> None:
    """When append returns, the row is in the store, with the time its commit began."""
    writer = QueueWriter(store, clock=lambda: NOON)
    await writer.append(b"a")
    assert [(row.requests, row.received_at) for row in rows(store)] == [([b"a"], NOON)]
    await writer.stop()


async def test_what_arrives_during_a_commit_is_one_row(gated: GatedStore) -> None:
    """The first request is committed at once, all that came meanwhile are the next row, in order."""
    writer = QueueWriter(gated)
    async with asyncio.TaskGroup() as clients:
        clients.create_task(writer.append(b"first"))
        await settle()
        for letter in (b"a", b"b", b"c"):
            clients.create_task(writer.append(letter))
        await settle()
        gated.gate.set()
    assert [row.requests for row in rows(gated)] == [[b"first"], [b"a", b"b", b"c"]]
    await writer.stop()


async def test_a_row_is_bounded(gated: GatedStore) -> None:
    """A group ends before the request that would make it too large; a larger request is a row of its own."""
    writer = QueueWriter(gated)
    sizes = [1, ROW_BYTES // 2, ROW_BYTES // 2, 1, ROW_BYTES + 1, 2]
    async with asyncio.TaskGroup() as clients:
        for size in sizes:
            clients.create_task(writer.append(bytes(size)))
            await settle()
        gated.gate.set()
    assert [[len(request) for request in row.requests] for row in rows(gated)] == [
        [1],
        [ROW_BYTES // 2, ROW_BYTES // 2],
        [1],
        [ROW_BYTES + 1],
        [2],
    ]
    await writer.stop()


async def test_many_clients_share_commits(store: QueueStore) -> None:
    """Every request of 40 concurrent clients is stored exactly once, in far fewer rows than requests."""
    writer = QueueWriter(store)

    async def client(number: int) -> None:
        for turn in range(10):
            await writer.append(b"%d:%d" % (number, turn))

    async with asyncio.TaskGroup() as clients:
        for number in range(40):
            clients.create_task(client(number))
    await writer.stop()
    stored = [request for row in rows(store) for request in row.requests]
    assert sorted(stored) == sorted(b"%d:%d" % (number, turn) for number in range(40) for turn in range(10))
    assert len(rows(store)) <= 40


async def test_a_few_clients_never_linger(store: QueueStore) -> None:
    """Clients that are no crowd are answered although the writer would linger for ever."""
    writer = QueueWriter(store, linger_seconds=3600)
    async with asyncio.timeout(10):
        for count in (CROWD, 1, CROWD):
            await asyncio.gather(*(writer.append(b"x") for _ in range(count)))
    await writer.stop()


async def test_a_crowd_is_waited_for(store: QueueStore) -> None:
    """After a crowd's commit the writer waits until as many are back, and they are one row."""
    crowd = CROWD + 4
    writer = QueueWriter(store, linger_seconds=3600)
    async with asyncio.timeout(10):
        await asyncio.gather(*(writer.append(b"x") for _ in range(crowd)))
        before = len(rows(store))
        first = asyncio.create_task(writer.append(b"first"))
        await asyncio.sleep(0.05)
        assert not first.done()
        await asyncio.gather(first, *(writer.append(b"x") for _ in range(crowd - 1)))
    assert [len(row.requests) for row in rows(store)[before:]] == [crowd]
    await writer.stop()


async def test_a_crowd_that_stays_away_is_not_missed(store: QueueStore) -> None:
    """One that comes alone after a crowd waits for the linger and no longer."""
    writer = QueueWriter(store, linger_seconds=0.02)
    async with asyncio.timeout(10):
        await asyncio.gather(*(writer.append(b"x") for _ in range(CROWD + 4)))
        await writer.append(b"alone")
    assert rows(store)[-1].requests == [b"alone"]
    await writer.stop()


@pytest.mark.parametrize(
    ("error", "raised"), [(Overloaded("disk full"), Overloaded), (ZeroDivisionError("a bug"), WeaklinkError)]
)
async def test_a_failed_commit_fails_all_of_its_group(
    gated: GatedStore, error: Exception, raised: type[Exception]
) -> None:
    """Everyone in a group whose commit fails is told so, none of it is stored, and the writer goes on."""
    gated.gate.set()
    writer = QueueWriter(gated)
    gated.error = error
    answers = await asyncio.gather(*(writer.append(b"x") for _ in range(3)), return_exceptions=True)
    assert [(type(answer), str(error) in str(answer)) for answer in answers] == [(raised, True)] * 3
    gated.error = None
    await writer.append(b"y")
    assert [row.requests for row in rows(gated)] == [[b"y"]]
    await writer.stop()


async def test_a_client_that_left_harms_nobody(gated: GatedStore) -> None:
    """When one of a group is cancelled, the others are still answered."""
    writer = QueueWriter(gated)
    leaver = asyncio.create_task(writer.append(b"a"))
    stayer = asyncio.create_task(writer.append(b"b"))
    await settle()
    leaver.cancel()
    gated.gate.set()
    await stayer
    assert leaver.cancelled()
    await writer.stop()


async def test_stop_flushes_and_then_refuses(gated: GatedStore) -> None:
    """What was taken before stop is durable when it returns; what comes later is Overloaded; twice is fine."""
    writer = QueueWriter(gated)
    tasks = [asyncio.create_task(writer.append(b"%d" % number)) for number in range(30)]
    await settle()
    stop = asyncio.create_task(writer.stop())
    await settle()
    with pytest.raises(Overloaded, match="stopping"):
        await writer.append(b"late")
    gated.gate.set()
    await stop
    await asyncio.gather(*tasks)
    assert sum(len(row.requests) for row in rows(gated)) == 30
    await writer.stop()


async def test_stop_without_start(store: QueueStore) -> None:
    """A writer that never got anything stops."""
    await QueueWriter(store).stop()
