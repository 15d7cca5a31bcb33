"""The lake: what readers see. It writes parts and the catalogue; which parts count, its caller keeps (durably)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from weaklink_processor.lake.catalogue import Catalogue
from weaklink_processor.lake.listing import FORMAT_VIEW, check_format, listed_parts
from weaklink_processor.lake.merging import Merge, due, merged_rows, sought_first, whole
from weaklink_processor.lake.parts import Part, PartWriter
from weaklink_processor.lake.reading import TOMBSTONES, TableParts, by_table, rows_sql


class Lake:
    """Parts below `DATA_DIR/lake` and the catalogue `DATA_DIR/weaklink.duckdb`."""

    def __init__(
        self,
        data_dir: Path,
        keys: Mapping[str, tuple[str, ...]],
        views: Iterable[str],
        sought: Mapping[str, str],
    ) -> None:
        """`keys`: table -> columns that identify a row that may change; () for a table whose rows never do.

        `sought`: table with such rows -> a column by which readers look for the few rows where it is not null.
        """
        self._root = (data_dir / "lake").absolute()
        self._path = data_dir / "weaklink.duckdb"
        self._catalogue = Catalogue(self._path, self._root, (FORMAT_VIEW, *views))
        self._keys, self._sought = keys, sought
        self._writer = PartWriter(self._root)
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def append(self, table: str, rows: pa.Table, *, seq: int, day: date) -> Part:
        """Write rows that will never change."""
        return self._writer.write(table, rows, seq=seq, day=day)

    def delta(self, table: str, changed: pa.Table, removed: pa.Table, *, seq: int, day: date) -> Part:
        """Write the rows of a table that are new or changed, and the keys of those that are gone.

        `changed` has a column more, `known`: whether there may be a row of the same key already.
        """
        marked = [
            _marked(changed.rename_columns({"known": "_replaces"}), _seq=seq, _removed=False),
            _marked(removed, _seq=seq, _replaces=True, _removed=True),
        ]
        return self._writer.write(table, pa.concat_tables(marked, promote_options="default"), seq=seq, day=day)

    def base(self, table: str, rows: pa.Table, *, seq: int, day: date) -> Part:
        """Write all rows of a table; every part of it with a lower seq is superseded."""
        marked = _marked(rows, _seq=seq, _replaces=False, _removed=False)
        sought = self._sought.get(table)
        in_order = sought_first(marked, sought) if sought else marked
        return self._writer.write(table, in_order, seq=seq, day=day, kind="base", base=True)

    def due(self, parts: Sequence[Part], today: date, upto: int = -1, *, resting: bool = False) -> list[Merge]:
        """What is to be merged next of all these parts: a merge of a table at most.

        `upto`: parts of publications up to this one are to become as few as can be. `resting`: there is time for more.
        """
        tables = by_table(parts, self._keys)
        tables[TOMBSTONES] = TableParts(parts=tables["spans"].tombstones)
        merges = (
            whole(name, table, upto) or due(name, table, today, resting=resting) for name, table in tables.items()
        )
        return [merge for merge in merges if merge]

    def merge(self, merge: Merge) -> Part:
        """Write the one part that takes the place of others. What those hold and nothing else is in it."""
        key, sought = self._keys.get(merge.table, ()), self._sought.get(merge.table)
        with merged_rows(self._root, merge, key, sought) as rows:
            return self._writer.write(merge.table, rows, seq=merge.seq, day=merge.day, kind=merge.kind, base=merge.base)

    def first_row_id(self, parts: Sequence[Part]) -> int | None:
        """The lowest row id in these parts of spans; None: they hold none."""
        rows = rows_sql(self._root, TableParts(parts=list(parts)))
        with duckdb.connect(config={"threads": 1}) as connection:
            ((lowest,),) = connection.execute(f"SELECT min(row_id) FROM ({rows})").fetchall()
        return cast("int | None", lowest)

    def publish(self, parts: Sequence[Part]) -> None:
        """Let readers see exactly these parts, all at once."""
        self._catalogue.write(by_table(parts, self._keys))

    def rows(self, parts: Sequence[Part], row_ids: Sequence[int]) -> pa.Table:
        """The stored spans with these row ids."""
        files = [str(self._root / part.path) for part in parts if part.table == "spans"]
        return ds.dataset(files, format="parquet").to_table(filter=ds.field("row_id").isin(list(row_ids)))

    @property
    def is_published(self) -> bool:
        """Whether readers have ever seen anything here."""
        return self._catalogue.exists

    def listed(self) -> set[str]:
        """The paths of the parts that readers see now.

        Raises:
            BrokenStore: a newer weaklink wrote the catalogue.
        """
        if not self.is_published:
            return set()
        try:
            catalogue = duckdb.connect(str(self._path), read_only=True)
        except duckdb.Error:
            return set()  # nobody can read it, and it is made anew
        with catalogue:
            check_format(catalogue, self._path)
            return listed_parts(catalogue)

    def check_formats(self, parts: Sequence[Part]) -> None:
        """Look at the newest of these parts of each table.

        Raises:
            BrokenStore: a newer weaklink wrote one.
        """
        for part in {part.table: part for part in sorted(parts, key=attrgetter("seq"))}.values():
            self._writer.check_format(part)

    def sweep(self, known: Collection[str]) -> None:
        """Delete what a crash left: files that are not among the known parts."""
        self.remove(path for path in self._writer.paths() if path not in known)

    def remove(self, paths: Iterable[str]) -> None:
        """Delete superseded parts."""
        for path in paths:
            self._writer.remove(path)


def _marked(rows: pa.Table, **marks: int) -> pa.Table:
    """The rows with columns more, each of which is the same in all of them."""
    for name, mark in marks.items():
        rows = rows.append_column(name, pa.repeat(mark, len(rows)))
    return rows
