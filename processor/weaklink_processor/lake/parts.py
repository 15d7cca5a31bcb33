"""Parquet parts: written aside, fsynced, renamed into `lake/<table>/date=YYYY-MM-DD/`, and never changed after.

A part of a table whose rows can change later carries three more columns: `_seq`, the publication (newest row a key
counts), `_replaces`, whether an older row of its key may be elsewhere, and `_removed`, a tombstone for its key.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from weaklink_processor.durable import sync_folder
from weaklink_processor.errors import BrokenStore
from weaklink_processor.lake.listing import FORMAT

LOW_CARDINALITY = {
    "spans": [
        "name", "kind", "status_code", "service_name", "environment", "attribute_types", "scope_name", "scope_version",
        "scope_attribute_types", "scope_schema_url", "resource_attribute_types", "resource_schema_url", "trace_state",
        "attributes.key_value.key", "resource_attributes.key_value.key", "resource_attributes.key_value.value",
        "scope_attributes.key_value.key", "span_kind", "session_id", "agent_id",
    ],
    "memory_operations": [
        "operation", "environment", "service_name", "store", "memory_type", "namespace", "agent_id",
        "declared_confidence", "convention", "resolved_store", "effective_confidence", "confidence_flag",
        "min_threshold", "flag_threshold", "finding_codes", "_seq",
    ],
}  # fmt: skip
"""Columns that a dictionary makes smaller; on ids and times it only costs time."""

_COMPRESSION = {"spans": "zstd"}
"""Of the others questions read much: as snappy they are two thirds larger, and read in three quarters of the time."""

_FORMAT_KEY = b"weaklink.format"

ROW_GROUP = 122_880
"""Rows of a row group: what DuckDB gives one thread."""

ROW_GROUP_BYTES = 64 << 20
"""A row group of very large rows ends earlier: it is held in memory before it is written."""

BLOOMS: Mapping[str, list[str]] = {
    "spans": ["trace_id"],
    "memory_operations": ["trace_id", "memory_id"],
    "memory_versions": ["memory_id"],
    "derivations": ["child_id", "parent_id"],
    "decisions": ["trace_id"],
    "evaluations": ["trace_id"],
    "evaluation_history": ["trace_id"],
}
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

    @property
    def day(self) -> date:
        """The day of its folder: when its rows were received, or for a changeable table, when it was written."""
        return date.fromisoformat(self.path.split("/")[1].removeprefix("date="))


class PartWriter:
    """Writes parts below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(
        self,
        table: str,
        rows: pa.Table | pa.RecordBatchReader,
        *,
        seq: int,
        day: date,
        kind: str = "part",
        base: bool = False,
    ) -> Part:
        """Write one part; when this returns, its bytes and its name are on disk.

        The name follows from its arguments, so writing again after a crash replaces the orphan.
        """
        path = Path(table) / f"date={day.isoformat()}" / f"{kind}-{seq:012d}.parquet"
        target = self._root / path
        _make_folder(target.parent, self._root)
        aside = target.with_suffix(".tmp")
        with aside.open("wb") as file:
            count = _write_rows(file, table, rows)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        aside.rename(target)
        sync_folder(target.parent)
        return Part(table, str(path), seq, count, size, base)

    def remove(self, path: str) -> None:
        """Delete a part's file; gone already is fine."""
        (self._root / path).unlink(missing_ok=True)

    def check_format(self, part: Part) -> None:
        """Refuse a part that a newer weaklink wrote.

        Raises:
            BrokenStore: it is one.
        """
        file = self._root / part.path
        version = int((pq.read_metadata(file).metadata or {}).get(_FORMAT_KEY, FORMAT))
        if version > FORMAT:
            raise BrokenStore(f"{file}: format {version} is newer than the {FORMAT} that this weaklink reads")

    def paths(self) -> list[str]:
        """Every file below the folder, half-written ones too."""
        return [str(file.relative_to(self._root)) for file in self._root.glob("*/date=*/*")]


def _write_rows(file: IO[bytes], table: str, rows: pa.Table | pa.RecordBatchReader) -> int:
    """Write rows in their order, a row group at a time; how many there were."""
    batches = rows.to_reader(ROW_GROUP) if isinstance(rows, pa.Table) else rows
    expected = min(max(rows.num_rows, 1), ROW_GROUP) if isinstance(rows, pa.Table) else ROW_GROUP
    count = 0
    with pq.ParquetWriter(
        file,
        batches.schema,
        compression=_COMPRESSION.get(table, "snappy"),
        use_dictionary=LOW_CARDINALITY.get(table, True),
        bloom_filter_options={column: {"ndv": expected} for column in BLOOMS.get(table, ())},
        write_page_checksum=False,
    ) as writer:
        for group in _row_groups(batches):
            writer.write_table(group, ROW_GROUP)
            count += group.num_rows
        writer.add_key_value_metadata({_FORMAT_KEY: str(FORMAT).encode()})
    return count


def _row_groups(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Gather batches, which may be of a row each, until a row group is full."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if waiting and (rows + batch.num_rows > ROW_GROUP or size > ROW_GROUP_BYTES):
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
    if waiting:
        yield pa.Table.from_batches(waiting)


def _make_folder(folder: Path, root: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for holder in (folder.parent, root, root.parent):
        sync_folder(holder)
