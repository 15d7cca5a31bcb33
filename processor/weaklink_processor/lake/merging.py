"""Small parts become few: rows of immutable parts are joined up, of deltas only the newest of a key is kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from weaklink_processor.lake.parts import Part

SMALL_ROWS = 65_536
"""A part with fewer rows is small."""
DELTA_ROWS = 4 * SMALL_ROWS
"""So many rows of deltas readers merge quickly enough, however small the base."""
SMALL_PARTS = 40
"""So many small parts of a table are merged into one."""


def due_for_merging(parts: Sequence[Part]) -> list[Part]:
    """The parts of one table to merge now, oldest first; empty for none."""
    small = sorted((p for p in parts if not p.base and p.rows < SMALL_ROWS), key=lambda p: p.seq)
    return small if len(small) >= SMALL_PARTS else []


def due_for_snapshot(parts: Sequence[Part]) -> bool:
    """Whether the deltas on a base have outgrown it, so that readers are better off with a new base."""
    deltas = sum(part.rows for part in parts if not part.base)
    return deltas > max(DELTA_ROWS, sum(part.rows for part in parts if part.base))


def merged_rows(lake: Path, parts: Sequence[Part], key: Sequence[str]) -> pa.Table:
    """The rows of the merged part."""
    if not key:
        return pa.concat_tables([pq.read_table(lake / part.path, partitioning=None) for part in parts])
    with duckdb.connect() as connection:
        files = connection.read_parquet([str(lake / part.path) for part in parts], hive_partitioning=False)
        newest = f"QUALIFY row_number() OVER (PARTITION BY {', '.join(key)} ORDER BY _seq DESC) = 1"
        return cast("duckdb.DuckDBPyRelation", files.query("files", f"FROM files {newest}")).to_arrow_table()
