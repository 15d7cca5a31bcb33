"""Compaction: many small files become few, readers notice nothing but that they are served sooner."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import lake.looping_reader
from analyst_life import Life
from e2e.workload import joined, workload
from weaklink_analysis.published import PUBLISHED
from weaklink_processor.analyst.step import LAKE_KEYS
from weaklink_processor.lake import merging
from weaklink_processor.lake.listing import listed_parts

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
READERS = 4
PARTS = 1001  # of seven tables
MOST_FILES_A_DAY = 20
AT_LEAST_FASTER = 5.0
KEY_QUERIES = {
    "a trace": "FROM spans WHERE trace_id = '00000000000000000000000000000009'",
    "its evaluations": "FROM evaluations WHERE trace_id = '00000000000000000000000000000009'",
    "a memory": "FROM memory_versions WHERE memory_id = 'm-1-3'",
    "what touched a memory": "FROM memory_operations WHERE memory_id = 'm-1-3'",
}


@pytest.mark.timeout(600)
def test_a_thousand_parts_are_compacted_under_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four processes that query in a loop meet no error and no other answer; few files a day are left, and a query for
    one key takes a fifth of the time at most."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    with Life(data_dir, NOW) as life:
        with monkeypatch.context() as patch:
            patch.setattr(merging, "SMALL_PARTS", 10 * PARTS)
            _scattered(life)
            written = len(life.state.parts())
            before = _timed(data_dir)
        with _readers(data_dir, tmp_path) as outputs:
            life.step.compact(NOW, whole=True)
            time.sleep(1)  # for a look at what it left
        after = _timed(data_dir)
    for lines in outputs():
        assert len(lines) == 2, lines
        assert int(lines[-1]) > 1
    with duckdb.connect(str(data_dir / "weaklink.duckdb"), read_only=True) as catalogue:
        days = Counter(path.split("/")[1] for path in listed_parts(catalogue))
    faster = {name: round(before[name] / after[name], 1) for name in KEY_QUERIES}
    asked = [lines[-1] for lines in outputs()]
    print(f"{written} parts became {dict(days)}; key queries are {faster} times as fast; answers: {asked}")  # noqa: T201
    assert written >= PARTS
    assert max(days.values()) <= MOST_FILES_A_DAY
    assert min(faster.values()) >= AT_LEAST_FASTER, faster


def _scattered(life: Life) -> None:
    """What some steps stored, as 1,000 parts of two days: such as a service with little to do leaves behind."""
    requests = workload(seed=8, requests=400)
    life.receive([joined(requests[n : n + 100]) for n in range(0, 400, 100)], NOW)
    whole, lake, applied = life.state.parts(), life.step._lake, life.step._applied
    tables = {published.name: life.step._engine.snapshot(published.name) for published in PUBLISHED}
    for name in ("spans", "evaluation_history"):
        files = [str(lake._root / part.path) for part in whole if part.table == name]
        tables[name] = ds.dataset(files).to_table()
    parts = []
    each = PARTS // len(tables)
    for number in range(each):
        applied.seq += 1
        day = (NOW - timedelta(days=number < each // 2)).date()
        for name, rows in tables.items():
            begin, end = (len(rows) * at // each for at in (number, number + 1))
            if LAKE_KEYS[name]:  # most rows come twice
                slice_ = rows.slice(begin, max(2 * (end - begin), 1))
                changed = slice_.append_column("known", pa.repeat(pa.scalar(value=True), len(slice_)))
                parts.append(lake.delta(name, changed, slice_.select([]).slice(0, 0), seq=applied.seq, day=day))
            else:
                parts.append(lake.append(name, rows.slice(begin, end - begin), seq=applied.seq, day=day))
    with life.state.transaction():
        life.state.supersede((part for part in whole if part.rows), NOW)
        life.state.add_parts(parts)
        life.state.store_applied(applied)
    life.step._published = False
    life.settle(NOW)


def _timed(data_dir: Path) -> dict[str, float]:
    """Seconds that a key query of a reader that has just opened the catalogue takes: the least of some.

    On one thread, and only what this process uses: others may be at work on the machine, and can only add to it.
    """
    return {name: min(_seconds(data_dir, query) for _ in range(9)) for name, query in KEY_QUERIES.items()}


def _seconds(data_dir: Path, query: str) -> float:
    with duckdb.connect(str(data_dir / "weaklink.duckdb"), read_only=True, config={"threads": 1}) as connection:
        begun = time.process_time()
        rows = connection.execute(query).fetchall()
        used = time.process_time() - begun
    assert rows
    return used


@contextmanager
def _readers(data_dir: Path, folder: Path) -> Iterator["Outputs"]:
    """Readers at work from before the block until after it; then, what each printed."""
    stop, command = folder / "stop", [sys.executable, str(lake.looping_reader.__file__), str(data_dir)]
    outputs = Outputs([folder / f"reader-{number}" for number in range(READERS)])
    processes = []
    for path in outputs.paths:
        with path.open("w") as file:
            processes.append(subprocess.Popen([*command, str(stop)], stdout=file, stderr=subprocess.STDOUT))
    while not all(outputs()):
        time.sleep(0.05)
    try:
        yield outputs
    finally:
        stop.touch()
        codes = [process.wait(60) for process in processes]
    assert codes == [0] * READERS, outputs()


class Outputs:
    """Lines that each reader printed so far."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths

    def __call__(self) -> list[list[str]]:
        return [path.read_text().splitlines() for path in self.paths]
