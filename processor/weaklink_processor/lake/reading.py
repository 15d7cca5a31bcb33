"""How the parts of a table are read as one: the SQL that the catalogue's views and merging share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weaklink_processor.lake.parts import Part

TOMBSTONES = "superseded_spans"
"""The table of row ids of spans that another with the same ids replaced."""

MARKS = ("_seq", "_replaces", "_removed")
"""The columns that a part of a table whose rows can change has besides its own."""


@dataclass(frozen=True, slots=True)
class TableParts:
    """What one table consists of now: immutable parts, or a base and the deltas on it."""

    key: tuple[str, ...] = ()
    """Empty: rows never change, and every part is whole."""
    parts: list[Part] = field(default_factory=list)
    tombstones: list[Part] = field(default_factory=list)
    """Row ids of immutable rows that others replaced; almost always none."""


def by_table(parts: Sequence[Part], keys: Mapping[str, tuple[str, ...]]) -> dict[str, TableParts]:
    """Sort parts by the table that they belong to."""
    tables = {table: TableParts(key) for table, key in keys.items()}
    for part in parts:
        (tables["spans"].tombstones if part.table == TOMBSTONES else tables[part.table].parts).append(part)
    return tables


def rows_sql(lake: Path, table: TableParts) -> str:
    """A SELECT of the table's rows as they are now, with the MARKS where rows can change."""
    if not table.key:
        replaced = f" WHERE row_id NOT IN (SELECT row_id FROM {_read(lake, table.tombstones)})"
        return f"SELECT * FROM {_read(lake, table.parts)}{replaced if table.tombstones else ''}"
    newest_base = max((part.seq for part in table.parts if part.base), default=-1)
    bases = [part for part in table.parts if part.base and part.seq == newest_base]
    deltas = [part for part in table.parts if not part.base and part.seq > newest_base]
    if not deltas:
        return f"SELECT * FROM {_read(lake, bases)}"
    there = (
        f"SELECT * FROM {_read(lake, bases)} UNION ALL BY NAME SELECT * FROM {_read(lake, deltas)} WHERE NOT _removed"
    )
    return _newest(f"({there})", _read(lake, deltas), table.key)


def newest_sql(lake: Path, deltas: Sequence[Part], key: Sequence[str]) -> str:
    """A SELECT of the newest row of each key, and of tombstones, which hide rows in other parts."""
    return _newest(_read(lake, deltas), _read(lake, deltas), key)


def _newest(rows: str, deltas: str, key: Sequence[str]) -> str:
    """Rows that none of the deltas replaces. A filter on them reaches the files.

    Few rows replace others, and they are marked: to leave out what they replace takes less than to look each row up
    among the newest.
    """
    keys = ", ".join(key)
    newest = f"SELECT {keys}, max(_seq) AS newest FROM {deltas} WHERE _replaces GROUP BY {keys}"
    older = " AND ".join(f"r.{column} = n.{column}" for column in key)
    return f"SELECT r.* FROM {rows} AS r ANTI JOIN ({newest}) AS n ON {older} AND r._seq < n.newest"


def _read(lake: Path, parts: Sequence[Part]) -> str:
    files = ", ".join(_quoted(str(lake / part.path)) for part in parts)
    return f"read_parquet([{files}], hive_partitioning = false)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
