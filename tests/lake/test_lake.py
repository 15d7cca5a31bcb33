"""The lake: what readers see is one consistent state, whatever it is made of."""

import os
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weaklink_processor.lake import merging
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.parts import Part
from weaklink_processor.lake.reading import TOMBSTONES

DAY = date(2026, 9, 1)
KEYS: Mapping[str, tuple[str, ...]] = {"spans": (), "things": ("key",)}
SPANS = pa.schema([("row_id", pa.int64()), ("trace_id", pa.string())])
THINGS = pa.schema([("key", pa.int64()), ("value", pa.string())])
VIEWS = ["CREATE VIEW things AS FROM lake.things"]
SOUGHT = {"things": "value"}

HEADER_BYTES = 3 * 4096
"""The head of a DuckDB file, and two headers of which the newer one counts."""
MOST_BYTES = 6 << 18
"""Of catalogues with a few dozen parts: blocks that nothing names are used again."""


class Shelf:
    """A lake and the list of its parts, as the analyst keeps it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lake = Lake(folder, KEYS, VIEWS, SOUGHT)
        self.seq = 1
        self.keys: set[int] = set()
        self.parts: list[Part] = [
            self.lake.append("spans", SPANS.empty_table(), seq=1, day=DAY),
            self.lake.base("things", THINGS.empty_table(), seq=1, day=DAY),
        ]

    def change(self, changed: Mapping[int, str | None], removed: set[int]) -> None:
        """Publish a delta."""
        self.seq += 1
        rows = pa.table({"key": list(changed), "value": list(changed.values())}, schema=THINGS)
        rows = rows.append_column("known", pa.array([key in self.keys for key in changed], pa.bool_()))
        self.keys = (self.keys | changed.keys()) - removed
        gone = pa.table({"key": pa.array(sorted(removed), pa.int64())})
        self.parts.append(self.lake.delta("things", rows, gone, seq=self.seq, day=DAY))

    def merge(self) -> None:
        """Merge what is due, if anything is."""
        for merge in self.lake.due(self.parts, DAY):
            self.parts = [*(part for part in self.parts if part not in merge.parts), self.lake.merge(merge)]

    def merge_some(self, chosen: Callable[[int], bool]) -> None:
        """Merge some of the deltas into one, whatever was published between them."""
        deltas = [part for part in self.parts if part.table == "things" and not part.base]
        if some := tuple(part for number, part in enumerate(deltas) if chosen(number)):
            merged = self.lake.merge(merging.Merge("things", some, base=False))
            self.parts = [*(part for part in self.parts if part not in some), merged]

    def read(self) -> dict[int, str | None]:
        """What a reader sees."""
        self.lake.publish(self.parts)
        return _values(self.folder / "weaklink.duckdb")


def _values(catalogue: Path) -> dict[int, str | None]:
    with duckdb.connect(str(catalogue), read_only=True) as connection:
        return dict(connection.execute("SELECT key, value FROM things ORDER BY key").fetchall())


step = st.tuples(
    st.dictionaries(st.integers(0, 5), st.text(max_size=3) | st.none(), max_size=3),
    st.sets(st.integers(0, 5), max_size=2),
    st.sampled_from(["nothing", "small parts", "every other delta", "a new base"]),
)


@given(st.lists(step, max_size=8))
@settings(max_examples=25)
def test_deltas_merged_or_not_say_the_newest_of_each_key(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[dict[int, str | None], set[int], str]]
) -> None:
    """A changeable table reads as a mapping would, after any deltas, merges and new bases."""
    shelf = Shelf(tmp_path_factory.mktemp("lake"))
    expected: dict[int, str | None] = {}
    with pytest.MonkeyPatch.context() as patch:
        for changed, removed, then in steps:
            gone = removed - changed.keys()
            shelf.change(changed, gone)
            expected = {key: value for key, value in (expected | changed).items() if key not in gone}
            patch.setattr(merging, "SMALL_PARTS", 2 if then == "small parts" else 1000)
            patch.setattr(merging, "DELTA_ROWS", 0 if then == "a new base" else 1000)
            shelf.merge()
            if then == "every other delta":
                shelf.merge_some(lambda number: number % 2 == 0)
    assert shelf.read() == dict(sorted(expected.items()))


@pytest.mark.parametrize("way", ["merged", "compacted", "a snapshot"])
def test_rows_that_are_sought_stand_first_in_a_base(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is made: who looks for them reads the beginning. The others follow as they came."""
    shelf = Shelf(tmp_path)
    values = {number: None if number % 3 else f"{number}" for number in range(10)}
    shelf.change(dict(list(values.items())[:7]), set())
    shelf.change(dict(list(values.items())[7:]), set())
    if way == "a snapshot":
        rows = pa.table({"key": list(values), "value": list(values.values())}, schema=THINGS)
        base = shelf.lake.base("things", rows, seq=9, day=DAY)
    else:
        monkeypatch.setattr(merging, "DELTA_ROWS", 0)
        (merge,) = shelf.lake.due(shelf.parts, DAY, shelf.seq if way == "compacted" else -1)
        assert merge.in_order is (way == "compacted")
        base = shelf.lake.merge(merge)
    written = pq.read_table(tmp_path / "lake" / base.path, partitioning=None).column("key").to_pylist()
    assert written == [0, 3, 6, 9, 1, 2, 4, 5, 7, 8]


def test_more_rows_than_memory_holds_are_put_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However wide: where the memory for a sort does not even hold a row group, it gets more."""
    monkeypatch.setattr(merging, "SORT_MEMORY", 16)
    shelf = Shelf(tmp_path)
    for keys in (range(1, 40_000, 2), range(0, 40_000, 2)):
        shelf.change({key: f"{key} {'value' * 200}" for key in keys}, set())
        (merge,) = [each for each in shelf.lake.due(shelf.parts, DAY, upto=shelf.seq) if each.table == "things"]
        shelf.parts = [*(part for part in shelf.parts if part not in merge.parts), shelf.lake.merge(merge)]
    (base,) = [part for part in shelf.parts if part.table == "things"]
    assert pq.read_table(tmp_path / "lake" / base.path)["key"].to_pylist() == [*range(40_000)]


def test_a_superseded_span_is_not_shown(tmp_path: Path) -> None:
    """A span part never changes; a row of it that another replaced is left out by its row id."""
    shelf = Shelf(tmp_path)
    rows = pa.table({"row_id": [1, 2], "trace_id": ["a", "b"]}, schema=SPANS)
    shelf.parts.append(shelf.lake.append("spans", rows, seq=2, day=DAY))
    shelf.parts.append(shelf.lake.append(TOMBSTONES, pa.table({"row_id": pa.array([1])}), seq=2, day=DAY))
    shelf.read()
    with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT row_id FROM lake.spans").fetchall() == [(2,)]


def test_a_reader_keeps_its_state_while_others_are_published(tmp_path: Path) -> None:
    """A connection sees what was published when it opened the catalogue, without a lock on either side."""
    shelf = Shelf(tmp_path)
    shelf.change({1: "old"}, set())
    shelf.lake.publish(shelf.parts)
    with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as reader:
        assert reader.execute("SELECT value FROM things").fetchall() == [("old",)]
        shelf.change({1: "new"}, set())
        shelf.lake.publish(shelf.parts)
        assert reader.execute("SELECT value FROM things").fetchall() == [("old",)]
    assert shelf.read() == {1: "new"}


@pytest.mark.parametrize("restarted", [False, True])
def test_a_reader_that_is_overtaken_on_its_way_in_sees_what_was(tmp_path: Path, *, restarted: bool) -> None:
    """DuckDB reads a file's header and its rest by two openings: with a publication between, the old state is seen."""
    shelf = Shelf(tmp_path)
    catalogue, torn = tmp_path / "weaklink.duckdb", tmp_path / "torn.duckdb"
    shelf.lake.publish(shelf.parts)
    for number in [1, 2, 3, 40, 5, 90, 1, 2]:
        before, parts = catalogue.read_bytes(), list(shelf.parts)
        expected = _values(catalogue)
        shelf.parts = [part for part in parts if part.base or part.table == "spans"]
        for key in range(number):
            shelf.change({key: str(number)}, set())
        if restarted:
            shelf.lake = Lake(tmp_path, KEYS, VIEWS, SOUGHT)
        shelf.lake.publish(shelf.parts)
        after = catalogue.read_bytes()
        assert after != before
        torn.write_bytes(before[:HEADER_BYTES] + after[HEADER_BYTES:])
        assert _values(torn) == expected
        assert _values(catalogue) == dict.fromkeys(range(number), str(number))
        assert len(after) <= MOST_BYTES


def test_what_another_version_left_in_the_catalogue_goes(tmp_path: Path) -> None:
    """The first publication of a service drops views and macros that are not its own."""
    shelf = Shelf(tmp_path)
    others = ["CREATE VIEW old AS SELECT 1", "CREATE MACRO was(x) AS TABLE SELECT x"]
    shelf.lake = Lake(tmp_path, KEYS, [*VIEWS, *others], SOUGHT)
    shelf.read()
    shelf.lake = Lake(tmp_path, KEYS, VIEWS, SOUGHT)
    assert shelf.read() == {}
    with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as connection:
        own = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        assert connection.execute(own).fetchall() == [("format",), ("spans",), ("things",), ("things",)]
        with pytest.raises(duckdb.CatalogException, match="was"):
            connection.execute("FROM was(1)")


def test_a_catalogue_that_is_damaged_is_made_anew(tmp_path: Path) -> None:
    """All that a catalogue says is known elsewhere: one that cannot be read is replaced."""
    shelf = Shelf(tmp_path)
    shelf.change({1: "x"}, set())
    shelf.read()
    (tmp_path / "weaklink.duckdb").write_bytes(b"\0" * 20_000)
    shelf.change({2: "y"}, set())
    assert shelf.read() == {1: "x", 2: "y"}


def test_a_part_is_on_disk_with_every_name_that_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of a table and a day, in a lake that was not there: a power cut right after it loses none of them."""
    synced: set[tuple[int, int]] = set()

    def noting(descriptor: int) -> None:
        synced.add((os.fstat(descriptor).st_dev, os.fstat(descriptor).st_ino))

    monkeypatch.setattr(os, "fsync", noting)
    part = Lake(tmp_path, KEYS, VIEWS, SOUGHT).append("spans", SPANS.empty_table(), seq=1, day=DAY)
    file = tmp_path / "lake" / part.path
    names = [file, *file.parents[: len(file.relative_to(tmp_path).parts)]]
    assert names[-1] == tmp_path
    assert [name for name in names if (name.stat().st_dev, name.stat().st_ino) not in synced] == []


def test_left_overs_are_swept_and_parts_are_not(tmp_path: Path) -> None:
    """What is half written or not known is what a crash left, and goes; its name can be written again."""
    shelf = Shelf(tmp_path)
    shelf.change({1: "orphan"}, set())
    orphan = shelf.parts.pop()
    (tmp_path / "lake" / orphan.path).with_suffix(".tmp").write_bytes(b"half")
    shelf.lake.sweep({part.path for part in shelf.parts})
    assert {path.name for path in (tmp_path / "lake").rglob("*") if path.is_file()} == {
        Path(part.path).name for part in shelf.parts
    }
    shelf.seq -= 1
    shelf.change({2: "again"}, set())
    assert shelf.read() == {2: "again"}


def test_immutable_parts_are_joined_up(tmp_path: Path) -> None:
    """Merging many small parts of a table whose rows never change keeps every row, once."""
    shelf = Shelf(tmp_path)
    rows = [pa.table({"row_id": [n], "trace_id": [f"t{n}"]}, schema=SPANS) for n in range(merging.SMALL_PARTS)]
    shelf.parts += [shelf.lake.append("spans", row, seq=n + 2, day=DAY) for n, row in enumerate(rows)]
    shelf.merge()
    assert [part.rows for part in shelf.parts if part.table == "spans"] == [0, merging.SMALL_PARTS]
    shelf.read()
    with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT row_id, trace_id FROM lake.spans ORDER BY row_id").fetchall()
    assert found == [(n, f"t{n}") for n in range(merging.SMALL_PARTS)]


def test_a_quote_in_the_folder_is_only_a_character(tmp_path: Path) -> None:
    """Paths enter the catalogue's views as text, whatever they hold."""
    folder = tmp_path / "it's; DROP TABLE x --"
    folder.mkdir()
    shelf = Shelf(folder)
    shelf.change({1: "x"}, set())
    assert shelf.read() == {1: "x"}
