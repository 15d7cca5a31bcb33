"""A queue file of an older version, as that version wrote it."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from weaklink_processor.queue.store import QueueStore

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLENTY = 1 << 30
SINK = "forward:http://collector:4317"
VERSION_1 = Path(__file__).with_name("version_1.sqlite.zst")
"""Seven rows of three requests: the fifth set aside, four applied, two forwarded and gone; a mark of 42."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "queue.sqlite"
    file.write_bytes(zstandard.ZstdDecompressor().decompress(VERSION_1.read_bytes()))
    return file


def test_version_1(path: Path) -> None:
    """Identity, rows, consumers, marks and what was set aside are as they were, and the queue goes on behind them."""
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        rows = store.read(0, PLENTY)
        assert [(row.offset, row.received_at) for row in rows] == [(offset, NOON) for offset in (3, 4, 6, 7)]
        assert rows[0].requests == [b"request 3.%d " % part * 40 for part in range(3)]
        assert store.id == "c912b55c-2339-4a5d-aedb-682b841c40ed"
        assert (store.progress("analyst"), store.progress(SINK), store.mark(SINK)) == (4, 2, 42)
        stats = store.stats()
        assert (stats.rows, stats.bytes, stats.quarantined, stats.last_offset) == (4, 255, 1, 7)
        assert stats.requests == 4  # each old row counts for one
        assert store.append([b"new"] * 3, NOON) == 8
        assert store.stats().requests == 7
        store.release("analyst", 7)
        store.release(SINK, 7)
        assert [row.offset for row in store.read(0, PLENTY)] == [8]
        assert store.stats().requests == 3


def test_once(path: Path) -> None:
    """However many open it at the same moment, and again later, it is brought up to date once."""

    def use(number: int) -> tuple[int, int]:
        with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
            return store.append([b"%d" % number], NOON), len(store.read(0, PLENTY)[0].requests)

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(use, range(16)))
    assert sorted(results) == [(offset, 3) for offset in range(8, 24)]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        assert db.execute("SELECT count(*) FROM arrivals").fetchone() == (4 + 16,)
