"""The durable queue on a real SQLite file."""

import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from structlog.testing import capture_logs

from weaklink_processor.errors import BrokenStore, Overloaded, UsageError
from weaklink_processor.queue.store import QueueStore

NOON = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)
PLENTY = 1 << 30


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[QueueStore]:
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        yield store


def requests_after(store: QueueStore, offset: int, max_bytes: int = PLENTY) -> list[list[bytes]]:
    return [row.requests for row in store.read(offset, max_bytes)]


def test_a_row_comes_back_as_it_went_in(store: QueueStore) -> None:
    """Requests come back byte for byte and in order, at every length of their length prefix, with their time."""
    requests = [b"", b"a", b"b" * 127, b"c" * 128, b"d" * 16_383, b"e" * 16_384, Random(1).randbytes(3_000_000)]
    offset = store.append(requests, NOON)
    (row,) = store.read(0, 1)
    assert (row.offset, row.received_at, row.requests) == (offset, NOON, requests)


def test_read_stops_at_about_max_bytes(store: QueueStore) -> None:
    """A read gives one row even if that is too large, and otherwise ends with the row that fills it."""
    for letter in (b"a", b"b", b"c"):
        store.append([letter * 1000], NOON)
    assert [len(requests_after(store, 0, size)) for size in (1, 1000, 1500, 2100, PLENTY)] == [1, 1, 2, 3, 3]
    assert requests_after(store, 2) == [[b"c" * 1000]]
    assert requests_after(store, 3) == []


def test_rows_wait_for_every_consumer(store: QueueStore) -> None:
    """A row is deleted when all registered consumers released it, and not before."""
    for name in ("analyst", "forward"):
        store.register(name)
    for _ in range(3):
        store.append([b"x"], NOON)
    store.release("analyst", 3)
    assert store.stats().rows == 3
    store.release("forward", 2)
    assert [row.offset for row in store.read(0, PLENTY)] == [3]
    assert (store.progress("analyst"), store.progress("forward"), store.progress("nobody")) == (3, 2, 0)


def test_release_never_goes_back(store: QueueStore) -> None:
    """Releasing an older offset changes nothing."""
    store.register("analyst")
    store.append([b"x"], NOON)
    store.release("analyst", 1)
    store.release("analyst", 0)
    assert store.progress("analyst") == 1


def test_release_by_a_stranger_is_an_error(store: QueueStore) -> None:
    """Only a registered consumer may release, so that a misspelt name cannot go unnoticed."""
    with pytest.raises(LookupError, match="analyts"):
        store.release("analyts", 1)


def test_nothing_is_deleted_without_consumers(store: QueueStore) -> None:
    """With the last consumer forgotten, rows stay."""
    store.register("analyst")
    store.append([b"x"], NOON)
    store.forget("analyst")
    assert store.stats().rows == 1


def test_forgetting_the_slowest_frees_its_rows(store: QueueStore) -> None:
    """Rows that waited for one consumer only are deleted with it."""
    for name in ("analyst", "forward"):
        store.register(name)
    store.append([b"x"], NOON)
    store.release("analyst", 1)
    store.forget("forward")
    assert store.stats().rows == 0


def test_a_new_consumer_starts_at_the_oldest_row(store: QueueStore) -> None:
    """What is already deleted counts as done for a consumer that comes late; registering again changes nothing."""
    store.register("analyst")
    for _ in range(3):
        store.append([b"x"], NOON)
    store.release("analyst", 2)
    store.register("late")
    store.release("analyst", 3)
    store.register("late")
    assert store.progress("late") == 2
    store.release("late", 3)
    store.register("latest")
    assert store.progress("latest") == 3


def test_offsets_are_never_given_twice(path: Path) -> None:
    """Offsets start at 1 and grow, also after everything was deleted and the file reopened."""
    seen = []
    for _ in range(3):
        with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
            store.register("analyst")
            seen.append(store.append([b"x"], NOON))
            store.release("analyst", seen[-1])
    assert seen == [1, 2, 3]


def test_a_reopened_queue_is_the_same_queue(path: Path) -> None:
    """Id, rows, consumers and marks survive closing; another file has another id."""
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        store.register("analyst")
        store.append([b"x"], NOON)
        store.set_mark("emit:sink", 2**62)
        before = store.id, store.stats()
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        assert (store.id, store.stats()) == before
        assert (store.mark("emit:sink"), store.mark("unknown")) == (2**62, 0)
    with closing(QueueStore.open(path.with_name("other.sqlite"), max_bytes=PLENTY)) as other:
        assert other.id != before[0]


def test_stats_tell_how_full_the_queue_is(store: QueueStore) -> None:
    """An empty queue has zeros and no time; bytes are those stored between the oldest row and the newest."""
    empty = store.stats()
    assert (empty.rows, empty.bytes, empty.first_offset, empty.last_offset) == (0, 0, 0, 0)
    assert empty.oldest_received_at is None
    store.register("analyst")
    random = Random(2)
    for size in (5000, 300, 70_000):
        store.append([random.randbytes(size)], NOON)
    full = store.stats()
    assert (full.rows, full.first_offset, full.last_offset, full.oldest_received_at) == (3, 1, 3, NOON)
    assert full.bytes == pytest.approx(75_300, abs=100)
    store.release("analyst", 1)
    assert store.stats().bytes == pytest.approx(70_300, abs=100)
    store.release("analyst", 3)
    assert (store.stats().bytes, store.stats().first_offset, store.stats().last_offset) == (0, 0, 3)


def test_a_full_queue_refuses_until_released(path: Path) -> None:
    """At `max_bytes` stored an append is Overloaded and leaves nothing; a release makes room again."""
    with closing(QueueStore.open(path, max_bytes=10_000)) as store:
        store.register("analyst")
        noise = Random(3).randbytes(6000)
        store.append([noise], NOON)
        store.append([noise], NOON)
        with pytest.raises(Overloaded, match="10000"):
            store.append([b"x"], NOON)
        assert store.stats().rows == 2
        store.release("analyst", 1)
        assert store.append([b"x"], NOON) == 3


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size`: a full disk without one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_full_disk_is_overload(store: QueueStore) -> None:
    """A write that fails is Overloaded and leaves nothing behind; with space again, appends go on."""
    store.append([b"before"], NOON)
    with file_size_limit(400_000), pytest.raises(Overloaded, match=r"queue\.sqlite"):
        store.append([Random(4).randbytes(1_000_000)], NOON)
    store.append([b"after"], NOON)
    assert requests_after(store, 0) == [[b"before"], [b"after"]]


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE queue SET payload = x'00' WHERE offset = 2",
        "UPDATE queue SET payload = zeroblob(stored) WHERE offset = 2",
        "UPDATE queue SET payload = CAST(substr(payload, 1, stored - 5) AS BLOB) WHERE offset = 2",
        "UPDATE queue SET payload = CAST(substr(payload, 1, stored - 1) || x'00' AS BLOB) WHERE offset = 2",
        "UPDATE queue SET size = size + 1 WHERE offset = 2",
        # a valid zstd frame (one raw block, no checksum) around a length that has no message
        "UPDATE queue SET payload = x'28b52ffd2001090000f0', size = 1 WHERE offset = 2",
    ],
)
def test_a_damaged_row_is_set_aside(store: QueueStore, path: Path, statement: str) -> None:
    """A row that cannot be unpacked is kept in quarantine and logged, and reading goes on behind it."""
    for letter in (b"a", b"b", b"c"):
        store.append([letter * 2000], NOON)
    damage(path, statement)
    with capture_logs() as logs:
        assert requests_after(store, 1, max_bytes=1) == [[b"c" * 2000]]
    assert [(entry["log_level"], entry["offset"]) for entry in logs] == [("error", 2)]
    assert [row.offset for row in store.read(0, PLENTY)] == [1, 3]
    assert (store.stats().rows, store.stats().quarantined) == (2, 1)


def test_a_flipped_bit_is_noticed(store: QueueStore, path: Path) -> None:
    """A row whose bytes changed is set aside also where it still unpacks."""
    store.append([Random(6).randbytes(2000)], NOON)
    middle = "stored / 2"
    flipped = f"substr(payload, 1, {middle} - 1) || x'42' || substr(payload, {middle} + 1)"
    damage(path, f"UPDATE queue SET payload = CAST({flipped} AS BLOB)")
    assert store.read(0, PLENTY) == []
    assert store.stats().quarantined == 1


def test_quarantine_keeps_the_row(store: QueueStore, path: Path) -> None:
    """A row set aside by a reader is out of the queue and still in the file; doing it twice is once."""
    store.append([b"poison"], NOON)
    for _ in range(2):
        store.quarantine(1, "brought the decoder down twice")
    assert store.read(0, PLENTY) == []
    with closing(sqlite3.connect(path)) as db:
        kept = db.execute("SELECT offset, reason, length(payload) > 0 FROM quarantine").fetchall()
    assert kept == [(1, "brought the decoder down twice", 1)]


def test_only_the_owner_may_read_it(store: QueueStore, path: Path) -> None:
    """The file and its companions hold users' data: mode 0600."""
    store.append([b"x"], NOON)
    files = list(path.parent.iterdir())
    assert {file.name for file in files} == {"queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [("PRAGMA user_version = 99", "format 99 is newer"), ("PRAGMA user_version = 0", "not a weaklink queue")],
)
def test_another_format_is_left_alone(path: Path, statement: str, complaint: str) -> None:
    """A queue of a newer version, or another program's file, is BrokenStore, named, and not touched."""
    QueueStore.open(path, max_bytes=PLENTY).close()
    damage(path, statement)
    before = path.read_bytes()
    with pytest.raises(BrokenStore, match=rf"queue\.sqlite: .*{complaint}"):
        QueueStore.open(path, max_bytes=PLENTY)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database(path: Path) -> None:
    """A file that SQLite does not know is BrokenStore, named."""
    path.write_bytes(b"something else " * 100)
    with pytest.raises(BrokenStore, match=r"queue\.sqlite"):
        QueueStore.open(path, max_bytes=PLENTY)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A queue in a missing folder is a UsageError that names the path."""
    with pytest.raises(UsageError, match=r"missing/queue\.sqlite: No such file"):
        QueueStore.open(tmp_path / "missing" / "queue.sqlite", max_bytes=PLENTY)


def test_closing_twice(path: Path) -> None:
    """A second close does nothing."""
    store = QueueStore.open(path, max_bytes=PLENTY)
    store.close()
    store.close()


def test_opened_by_many_at_once(path: Path) -> None:
    """However many make the file at the same moment, they get one queue, and each append its own offset."""

    def use(_: int) -> tuple[str, int]:
        with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
            return store.id, store.append([b"x"], NOON)

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(use, range(16)))
    assert len({store_id for store_id, _ in results}) == 1
    assert sorted(offset for _, offset in results) == list(range(1, 17))
    assert {file.name for file in path.parent.iterdir()} == {"queue.sqlite"}


def test_one_store_in_many_threads(store: QueueStore) -> None:
    """A store may be shared by threads."""
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.append([b"%d" % number], NOON), range(40)))
    assert sorted(requests_after(store, 0)) == sorted([b"%d" % number] for number in range(40))


def test_space_is_used_again(path: Path) -> None:
    """Under steady append and release, with another process's reader at work, neither file nor WAL keeps growing."""
    random = Random(5)
    with (
        closing(QueueStore.open(path, max_bytes=PLENTY)) as store,
        closing(QueueStore.open(path, max_bytes=PLENTY)) as reader,
    ):
        store.register("analyst")
        for _ in range(150):
            offset = store.append([random.randbytes(1_000_000)], NOON)
            assert [row.offset for row in reader.read(offset - 1, PLENTY)] == [offset]
            reader.release("analyst", offset - 2)
        wal = path.with_name("queue.sqlite-wal")
        assert path.stat().st_size < 24 << 20
        assert wal.stat().st_size < 24 << 20


APPEND_FOR_EVER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from weaklink_processor.queue.store import QueueStore

store = QueueStore.open(Path(sys.argv[1]), max_bytes=1 << 30)
for number in range(1_000_000):
    offset = store.append([b"%d" % number, bytes(50_000)], datetime.now(UTC))
    print(offset, number, flush=True)
"""


def test_overflow_is_what_does_not_fit(store: QueueStore) -> None:
    """Of the rows that wait, the newest that fit together stay; rows that are deleted already change nothing."""
    store.register("analyst")
    for _ in range(10):
        store.append([Random(1).randbytes(1000)], NOON)
    size = store.stats().bytes // 10
    assert [store.overflow(0, 10, number * size) for number in (20, 10, 9, 1)] == [0, 0, 1, 9]
    assert store.overflow(0, 6, 2 * size) == 4
    assert store.overflow(5, 6, 2 * size) == 5
    assert store.overflow(0, 10, 1) == 9
    store.release("analyst", 8)
    assert [store.overflow(8, 10, number * size) for number in (2, 1)] == [8, 9]
    store.release("analyst", 10)
    assert store.overflow(10, 10, 1) == 10


def test_what_is_passed_over_adds_up(path: Path, store: QueueStore) -> None:
    """Counts are kept in the file, apart from other marks."""
    store.set_mark("forward:a", 5)
    for units in (3, 4):
        store.pass_over("forward:a", units)
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as again:
        assert (again.passed_over(), again.mark("forward:a")) == ({"forward:a": 7}, 5)


def test_commits_are_fsynced(store: QueueStore) -> None:
    """Each connection writes ahead and syncs at every commit, and waits for its turn instead of failing."""
    settings = {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "busy_timeout": 5000}
    with store._connected() as db:
        found = {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in settings}
    assert found == settings


def test_what_was_appended_survives_a_kill(path: Path) -> None:
    """After SIGKILL, every append that had returned is there, and the offsets go on behind it."""
    with subprocess.Popen([sys.executable, "-c", APPEND_FOR_EVER, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(100)]
        process.kill()
        lines += process.stdout.readlines()
    whole_lines = [line.split() for line in lines if line.endswith("\n")]
    acknowledged = {int(offset): b"%d" % int(number) for offset, number in whole_lines}
    with closing(QueueStore.open(path, max_bytes=PLENTY)) as store:
        found = {row.offset: row.requests[0] for row in store.read(0, PLENTY)}
        assert acknowledged.items() <= found.items()
        assert len(found) <= len(acknowledged) + 1
        assert store.append([b"x"], NOON) == max(found) + 1
