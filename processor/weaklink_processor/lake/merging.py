"""Many parts become one: immutable rows are joined up, of deltas only the newest of a key is kept.

Rows stay in the order of arrival, which is nearly that of time: a part's row groups then have narrow ranges of
times and of keys, and Bloom filters find ids. Immutable rows of two days are never in one part, so that a day
can be dropped. Rows stream from part to part, so that a merge needs memory for the deltas of a table, never for its
base. Rows that changed late come last; putting them in their place doubles the cost, and is done on demand only.
In a base the few rows that readers look for (`sought`) stand before all others, more or less in that order: scattered,
they would be in every page.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, groupby, takewhile
from operator import attrgetter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weaklink_processor.lake.parts import ROW_GROUP, Part
from weaklink_processor.lake.reading import TableParts, newest_sql, rows_sql

SMALL_ROWS = 65_536
"""A part with fewer rows is small."""
DELTA_ROWS = 4 * SMALL_ROWS
"""So many rows of deltas readers merge quickly enough, however small the base."""
RESTING = 4
"""So many times fewer are left while nothing waits to be analysed: readers have a third of the work, and a row is
written five times, not twice, at about a CPU-us each."""
TINY_ROWS = 4_096
"""What a part with fewer rows costs, to write or to read, does not depend on how many they are."""
SMALL_PARTS = 40
"""So many small parts of a table are merged into one."""
MIDDLE_PARTS = 400
"""So many that are neither small nor large, while their day lasts: writing a million spans again takes 6 CPU-s."""
LARGE_ROWS = 32 * SMALL_ROWS
"""A part with so many rows is large, and stays as it is."""
DAY_PARTS = 4
"""So many parts that are not large a day is left with once it is over."""
BATCH_ROWS = 8_192
SORT_MEMORY, MOST_SORT_MEMORY = 256, 4_096
"""MB. Beyond the first, rows are sorted on disk; up to the second, where DuckDB cannot for rows that are very wide."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Parts of one table, and whether what takes their place is a new base."""

    table: str
    parts: tuple[Part, ...]
    base: bool
    in_order: bool = False
    """Whether the rows of a changeable table are sorted by its key."""

    @property
    def seq(self) -> int:
        """The publication up to which the merged part speaks."""
        return max(part.seq for part in self.parts)

    @property
    def day(self) -> date:
        """The folder of the merged part."""
        return max(part.day for part in self.parts)

    @property
    def kind(self) -> str:
        """What its name begins with: no merged part has the name of one that it takes the place of."""
        return "base" if self.base else f"merged{1 + max(_generation(part) for part in self.parts)}"


def due(name: str, table: TableParts, today: date, *, resting: bool = False) -> Merge | None:
    """What of a table is to be merged now; more of it when there is time (`resting`).

    Of deltas all, with the base, if they have outgrown it, else many small ones; of immutable parts those of a day
    that is over, or many that are alike.
    """
    if not table.key:
        crowd = max(_crowds(table.parts, today, resting=resting), key=len, default=())
        return Merge(name, crowd, base=False) if crowd else None
    deltas = [part for part in table.parts if not part.base]
    base_rows = sum(part.rows for part in table.parts if part.base)
    if sum(part.rows for part in deltas) > max(DELTA_ROWS, base_rows) // (RESTING if resting else 1):
        return Merge(name, tuple(table.parts), base=True)
    small = _alike(deltas) if resting else [part for part in deltas if part.rows < SMALL_ROWS]
    return Merge(name, tuple(small), base=False) if len(small) >= (RESTING if resting else SMALL_PARTS) else None


def whole(name: str, table: TableParts, upto: int) -> Merge | None:
    """What is to be merged so that a table is in as few parts as can be; publications later than `upto` need not."""
    if table.key:
        outdated = any(not part.base and part.seq <= upto for part in table.parts)
        return Merge(name, tuple(table.parts), base=True, in_order=True) if outdated else None
    early = [part for part in table.parts if part.seq <= upto]
    return next((Merge(name, _bounded(parts), base=False) for _, parts in _by_day(early) if len(parts) > 1), None)


@contextmanager
def merged_rows(
    lake: Path, merge: Merge, key: tuple[str, ...], sought: str | None = None
) -> Iterator[pa.RecordBatchReader]:
    """The rows of the merged part; in a base those first in which the column `sought` is not null."""
    if not key:
        # Not through DuckDB, which refuses maps in which a key is there twice.
        files = [lake / part.path for part in merge.parts]
        yield pa.RecordBatchReader.from_batches(pq.read_schema(files[0]), _batches(files))
        return
    with duckdb.connect(config={"threads": 1, "temp_directory": str(lake / ".sorting")}) as connection:
        table = TableParts(key, list(merge.parts))
        rows = rows_sql(lake, table) if merge.base else newest_sql(lake, merge.parts, key)
        if merge.in_order:
            yield _sorted(connection, rows, [*([f"{sought} IS NULL"] if sought else []), *key])
            return
        if merge.base and sought:
            rows = " UNION ALL ".join(f"FROM ({rows}) WHERE {sought} IS {null}" for null in ("NOT NULL", "NULL"))
        yield connection.sql(rows).to_arrow_reader(ROW_GROUP)


def _sorted(connection: duckdb.DuckDBPyConnection, rows: str, key: Sequence[str]) -> pa.RecordBatchReader:
    """Sort in as little memory as will do: it has to hold some row groups as they are unpacked, of whatever width."""
    memory = SORT_MEMORY
    while True:
        connection.execute(f"SET memory_limit = '{memory}MB'")
        try:
            return connection.sql(f"{rows} ORDER BY {', '.join(key)}").to_arrow_reader(ROW_GROUP)
        except duckdb.OutOfMemoryException:
            memory *= 2
            if memory > MOST_SORT_MEMORY:
                raise


def sought_first(rows: pa.Table, sought: str) -> pa.RecordBatchReader:
    """The rows, those first in which the column `sought` is not null; never all of them a second time in memory."""
    by_null = (
        batch.filter(pc.equal(pc.is_null(batch.column(sought)), null))
        for null in (False, True)
        for batch in rows.to_batches(ROW_GROUP)
    )
    return pa.RecordBatchReader.from_batches(rows.schema, by_null)


def _batches(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    for path in files:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH_ROWS, use_threads=False)


def _alike(deltas: Sequence[Part]) -> list[Part]:
    """The smallest, up to one that is much larger than all of them.

    Where these are merged, what is left grows fourfold from part to part: they are few, and a row is written again as
    many times as there are parts.
    """
    by_size = sorted(deltas, key=attrgetter("rows"))
    before = accumulate(part.rows for part in by_size)
    alike = (part.rows <= max(TINY_ROWS, RESTING * rows) for part, rows in zip(by_size[1:], before, strict=False))
    return by_size[: 1 + sum(takewhile(bool, alike))]


def _crowds(parts: Sequence[Part], today: date, *, resting: bool) -> Iterator[tuple[Part, ...]]:
    fewer = RESTING if resting else 1
    for day, own in _by_day(parts):
        if day < today:
            if len(own) > DAY_PARTS // fewer:
                yield _bounded(own)
            continue
        small = tuple(part for part in own if part.rows < SMALL_ROWS)
        if len(small) >= max(2, SMALL_PARTS // fewer):
            yield small
        if len(own) - len(small) >= MIDDLE_PARTS:
            yield _bounded(tuple(part for part in own if part not in small))


def _bounded(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """As many of the parts, two at least, as make a large one."""
    rows = accumulate(part.rows for part in parts)
    return parts[: max(2, 1 + sum(each < LARGE_ROWS for each in rows))]


def _by_day(parts: Sequence[Part]) -> Iterator[tuple[date, tuple[Part, ...]]]:
    """The immutable parts of each day that a merge may take, in the order of their rows.

    Without an empty one: the first of a table is, and says for ever which columns the table has.
    """
    movable = sorted((part for part in parts if 0 < part.rows < LARGE_ROWS), key=attrgetter("day", "seq"))
    return ((day, tuple(own)) for day, own in groupby(movable, attrgetter("day")))


def _generation(part: Part) -> int:
    kind = Path(part.path).name.partition("-")[0]
    return int(kind.removeprefix("merged") or 1) if kind.startswith("merged") else 0
