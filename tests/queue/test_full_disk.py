"""The queue on a real disk that is full."""

from contextlib import closing, suppress
from datetime import UTC, datetime
from random import Random

import pytest

from small_disk import SmallDisk
from weaklink_processor.errors import Overloaded
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.queue.writer import QueueWriter

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1 << 30
RANDOM = Random(8)


def fill(store: QueueStore, size: int) -> dict[int, bytes]:
    """Append until the disk is full: what was appended, by offset."""
    appended = {}
    with suppress(Overloaded):
        while True:
            request = RANDOM.randbytes(size)
            appended[store.append([request], NOON)] = request
    return appended


def test_a_full_disk_refuses_until_there_is_room(small_disk: SmallDisk) -> None:
    """An append on a full disk is Overloaded and leaves nothing; with room again the next one succeeds.

    All that was appended is there, and nothing else, whoever opens the file.
    """
    small_disk.resize(8)
    path = small_disk.path / "queue.sqlite"
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        store.register("analyst")
        appended = fill(store, 300_000)
        for size in (1, 20_000, 1_000_000):
            small_disk.fill()
            appended |= fill(store, size)
            with pytest.raises(Overloaded, match=r"queue\.sqlite"):
                store.append([RANDOM.randbytes(400_000)], NOON)
            assert {row.offset: row.requests[0] for row in store.read(0, PLENTY)} == appended
            small_disk.make_room()
            small_disk.resize(16)
            request = RANDOM.randbytes(size)
            appended[store.append([request], NOON)] = request
        with closing(QueueStore.open(path, max_bytes=PLENTY)) as other:
            assert {row.offset: row.requests[0] for row in other.read(0, PLENTY)} == appended
            assert other.stats().rows == len(appended)


def test_release_makes_room(small_disk: SmallDisk) -> None:
    """On a disk full of the queue alone released rows' space is used again, once there is room to write ahead."""
    with closing(QueueStore.open(small_disk.path / "queue.sqlite", max_bytes=PLENTY)) as store:
        store.register("analyst")
        last = max(fill(store, 300_000))
        small_disk.resize(64 + 20)
        store.release("analyst", last)
        assert len(fill(store, 300_000)) > 150


@pytest.mark.anyio
async def test_nothing_is_acknowledged_on_a_full_disk(small_disk: SmallDisk) -> None:
    """A retry of what a full disk refused is refused too, and stored once when there is room."""
    with closing(QueueStore.open(small_disk.path / "queue.sqlite", max_bytes=PLENTY)) as store:
        writer = QueueWriter(store, duplicate_window_seconds=60)
        small_disk.fill()
        request = RANDOM.randbytes(4_000_000)
        for _ in range(3):
            with pytest.raises(Overloaded, match="full"):
                await writer.append(request)
        small_disk.make_room()
        for _ in range(3):
            await writer.append(request)
        await writer.stop()
        assert [row.requests for row in store.read(0, PLENTY)] == [[request]]


def test_opened_on_a_full_disk(small_disk: SmallDisk) -> None:
    """A queue that is opened while the disk is full can be read, or is Overloaded; later all is as it was."""
    path = small_disk.path / "queue.sqlite"
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        store.append([b"x"], NOON)
    small_disk.fill()
    with suppress(Overloaded), closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        assert [row.requests for row in store.read(0, PLENTY)] == [[b"x"]]
    small_disk.make_room()
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        assert store.append([b"y"], NOON) == 2
