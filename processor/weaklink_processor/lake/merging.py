"""Many parts become one: immutable rows are joined up, of deltas only the newest of a key is kept.

Rows stream from part to part, so that a merge needs memory for the deltas of a table, never for its base.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
"""So many small parts of a table are merged into one."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Parts of one table, and whether what takes their place is a new base."""

    table: str
    parts: tuple[Part, ...]
    base: bool

    @property
    def seq(self) -> int:
        """The publication up to which the merged part speaks."""
        return max(part.seq for part in self.parts)


def due(name: str, table: TableParts) -> Merge | None:
    """What of a table is to be merged now: all of it, if its deltas have outgrown the base, else many small parts."""
    deltas = [part for part in table.parts if not part.base]
    base_rows = sum(part.rows for part in table.parts if part.base)
    if table.key and sum(part.rows for part in deltas) > max(DELTA_ROWS, base_rows):
        return Merge(name, tuple(table.parts), base=True)
    small = [part for part in deltas if part.rows < SMALL_ROWS]
    return Merge(name, tuple(small), base=False) if len(small) >= SMALL_PARTS else None


@contextmanager
def merged_rows(lake: Path, merge: Merge, key: tuple[str, ...]) -> Iterator[pa.RecordBatchReader]:
    """The rows of the merged part."""
    if not key:
        # Not through DuckDB, which refuses maps in which a key is there twice.
        files = [str(lake / part.path) for part in merge.parts]
        yield ds.dataset(files, format="parquet").scanner(use_threads=False, batch_readahead=1).to_reader()
        return
    with duckdb.connect(config={"threads": 1}) as connection:
        table = TableParts(key, list(merge.parts))
        rows = rows_sql(lake, table) if merge.base else newest_sql(lake, merge.parts, key)
        yield connection.sql(rows).to_arrow_reader(ROW_GROUP)
