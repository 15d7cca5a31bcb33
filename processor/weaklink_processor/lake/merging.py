"""Many parts become one: immutable rows are joined up, of deltas only the newest of a key is kept.

Rows stay in the order of arrival, which is nearly that of time: a part's row groups then have narrow ranges of
times and of keys, and Bloom filters find ids. Immutable rows of two days are never in one part, so that a day
can be dropped. Rows stream from part to part, so that a merge needs memory for the deltas of a table, never for its
base. Rows that changed late come last; putting them in their place doubles the cost, and is done on demand only.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from weaklink_processor.lake.parts import ROW_GROUP, Part
from weaklink_processor.lake.reading import TableParts, newest_sql, rows_sql

SMALL_ROWS = 65_536
"""A part with fewer rows is small."""
DELTA_ROWS = 4 * SMALL_ROWS
"""So many rows of deltas readers merge quickly enough, however small the base."""
SMALL_PARTS = 40
"""So many parts of a size are merged into one while their day lasts: small ones, then those 40 times as large, ..."""
DAY_PARTS = 4
"""So many parts a day is left with once it is over."""
LARGE_ROWS = 512 * SMALL_ROWS
"""Parts from this size on stay as they are: a larger one would only make every reader read a longer footer."""
SORT_MEMORY = "256MB"
"""Beyond it, rows are sorted on disk."""


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


def due(name: str, table: TableParts, today: date) -> Merge | None:
    """What of a table is to be merged now.

    Of deltas all, with the base, if they have outgrown it, else many small ones; of immutable parts those of a day
    that is over, or many of a size.
    """
    if not table.key:
        return next((Merge(name, crowd, base=False) for crowd in _crowds(table.parts, today)), None)
    deltas = [part for part in table.parts if not part.base]
    base_rows = sum(part.rows for part in table.parts if part.base)
    if sum(part.rows for part in deltas) > max(DELTA_ROWS, base_rows):
        return Merge(name, tuple(table.parts), base=True)
    small = [part for part in deltas if part.rows < SMALL_ROWS]
    return Merge(name, tuple(small), base=False) if len(small) >= SMALL_PARTS else None


def whole(name: str, table: TableParts, upto: int) -> Merge | None:
    """What is to be merged so that a table is in as few parts as can be; publications later than `upto` need not."""
    if table.key:
        outdated = any(not part.base and part.seq <= upto for part in table.parts)
        return Merge(name, tuple(table.parts), base=True, in_order=True) if outdated else None
    early = [part for part in table.parts if part.seq <= upto]
    return next((Merge(name, parts, base=False) for _, parts in _by_day(early) if len(parts) > 1), None)


@contextmanager
def merged_rows(lake: Path, merge: Merge, key: tuple[str, ...]) -> Iterator[pa.RecordBatchReader]:
    """The rows of the merged part."""
    if not key:
        # Not through DuckDB, which refuses maps in which a key is there twice.
        files = [str(lake / part.path) for part in merge.parts]
        yield ds.dataset(files, format="parquet").scanner(use_threads=False, batch_readahead=1).to_reader()
        return
    with duckdb.connect(config={"threads": 1, "temp_directory": str(lake / ".sorting")}) as connection:
        table = TableParts(key, list(merge.parts))
        rows = rows_sql(lake, table) if merge.base else newest_sql(lake, merge.parts, key)
        if merge.in_order:
            connection.execute(f"SET memory_limit = '{SORT_MEMORY}'")
            rows += f" ORDER BY {', '.join(key)}"
        yield connection.sql(rows).to_arrow_reader(ROW_GROUP)


def _crowds(parts: Sequence[Part], today: date) -> Iterator[tuple[Part, ...]]:
    for day, own in _by_day(parts):
        if day < today:
            if len(own) > DAY_PARTS:
                yield own
            continue
        of_a_size = groupby(sorted(own, key=_size), _size)
        yield from (alike for _, group in of_a_size if len(alike := tuple(group)) >= SMALL_PARTS)


def _by_day(parts: Sequence[Part]) -> Iterator[tuple[date, tuple[Part, ...]]]:
    """The immutable parts of each day that a merge may take, in the order of their rows.

    Without an empty one: the first of a table is, and says for ever which columns the table has.
    """
    movable = sorted((part for part in parts if 0 < part.rows < LARGE_ROWS), key=attrgetter("day", "seq"))
    return ((day, tuple(own)) for day, own in groupby(movable, attrgetter("day")))


def _size(part: Part) -> int:
    """0 for a small part, 1 for one up to 40 times as large, and so on."""
    size, limit = 0, SMALL_ROWS
    while part.rows >= limit:
        size, limit = size + 1, limit * SMALL_PARTS
    return size


def _generation(part: Part) -> int:
    kind = Path(part.path).name.partition("-")[0]
    return int(kind.removeprefix("merged") or 1) if kind.startswith("merged") else 0
