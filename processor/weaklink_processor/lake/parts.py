"""Parquet parts: written aside, fsynced, renamed into `lake/<table>/date=YYYY-MM-DD/`, and never changed after.

A part of a table whose rows can change later carries two more columns: `_seq`, the publication
(newest row a key counts), and `_removed`, a tombstone for its key.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LOW_CARDINALITY = {
    "spans": [
        "name", "kind", "status_code", "service_name", "environment", "attribute_types", "scope_name", "scope_version",
        "scope_attribute_types", "scope_schema_url", "resource_attribute_types", "resource_schema_url", "trace_state",
        "attributes.key_value.key", "resource_attributes.key_value.key", "resource_attributes.key_value.value",
        "scope_attributes.key_value.key", "span_kind", "session_id", "agent_id",
    ],
}  # fmt: skip
"""Columns that a dictionary makes smaller; on ids and times it only costs time."""

BLOOMS: Mapping[str, list[str]] = {"spans": ["trace_id"]}
"""Columns by which a reader asks for one value among very many."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of one table."""

    table: str
    path: str
    """Relative to the lake's folder."""
    seq: int
    rows: int
    bytes: int
    base: bool
    """A snapshot of a whole changeable table; parts with a lower seq are superseded by it."""


class PartWriter:
    """Writes parts below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, table: str, rows: pa.Table, *, seq: int, day: date, kind: str = "part", base: bool = False) -> Part:
        """Write one part; when this returns, its bytes and its name are on disk.

        The name follows from its arguments, so writing again after a crash replaces the orphan.
        """
        path = Path(table) / f"date={day.isoformat()}" / f"{kind}-{seq:012d}.parquet"
        target = self._root / path
        _make_folder(target.parent, self._root)
        aside = target.with_suffix(".tmp")
        with aside.open("wb") as file:
            pq.write_table(
                rows,
                file,
                compression="zstd",
                compression_level=1,
                use_dictionary=LOW_CARDINALITY.get(table, True),
                bloom_filter_options={column: {"ndv": max(rows.num_rows, 1)} for column in BLOOMS.get(table, ())},
                row_group_size=122_880,
                write_page_checksum=False,
            )
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        aside.rename(target)
        _sync_folder(target.parent)
        return Part(table, str(path), seq, rows.num_rows, size, base)

    def remove(self, path: str) -> None:
        """Delete a part's file; gone already is fine."""
        (self._root / path).unlink(missing_ok=True)

    def left_over(self, after_seq: int) -> list[str]:
        """What writing left that never came to count: half-written files, and parts of a later publication."""
        files = self._root.glob("*/date=*/*")
        return [str(file.relative_to(self._root)) for file in files if _seq(file) > after_seq]


def _seq(file: Path) -> int:
    """The publication in a part's name; beyond all of them for a file that is only half written."""
    return int(file.stem.rpartition("-")[2]) if file.suffix == ".parquet" else sys.maxsize


def _make_folder(folder: Path, root: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for made in (folder.parent, root):
        _sync_folder(made)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
