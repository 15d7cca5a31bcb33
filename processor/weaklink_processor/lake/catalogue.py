"""`weaklink.duckdb`: views only, over an exact list of parts, made anew and renamed into place at every publication.

Readers open it read-only and never meet a lock, since nobody ever writes to a file they could
have open. One that keeps its connection keeps its state; parts that it lists outlive it for a
grace time.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from weaklink_processor.lake.parts import Part


@dataclass(frozen=True, slots=True)
class TableParts:
    """What one table consists of now: immutable parts, or a base and the deltas on it."""

    key: tuple[str, ...] = ()
    """Empty: rows never change, and every part is whole."""
    parts: list[Part] = field(default_factory=list)
    tombstones: list[Part] = field(default_factory=list)
    """Row ids of immutable rows that others replaced; almost always none."""


def write_catalogue(path: Path, lake: Path, tables: Mapping[str, TableParts], views: Iterable[str]) -> None:
    """Replace the catalogue at `path`. Schema `lake` gets a view a table; `views` are statements run after that."""
    aside = path.with_suffix(".tmp")
    aside.unlink(missing_ok=True)
    with duckdb.connect(str(aside)) as connection:
        connection.execute("CREATE SCHEMA lake")
        for name, table in tables.items():
            connection.execute(f"CREATE VIEW lake.{name} AS {_merged(lake, table)}")
        for view in views:
            connection.execute(view)
        connection.execute("CHECKPOINT")
    with aside.open("rb") as file:
        os.fsync(file.fileno())
    aside.rename(path)


def _merged(lake: Path, table: TableParts) -> str:
    if not table.key:
        replaced = f" WHERE row_id NOT IN (SELECT row_id FROM {_read(lake, table.tombstones)})"
        return f"SELECT * FROM {_read(lake, table.parts)}{replaced if table.tombstones else ''}"
    newest_base = max((part.seq for part in table.parts if part.base), default=-1)
    bases = [part for part in table.parts if part.base and part.seq == newest_base]
    deltas = [part for part in table.parts if not part.base and part.seq > newest_base]
    if not deltas:
        return f"SELECT * EXCLUDE (_seq, _removed) FROM {_read(lake, bases)}"
    keys = ", ".join(table.key)
    return (
        f"WITH deltas AS (FROM {_read(lake, deltas)} "
        f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY _seq DESC) = 1) "
        f"SELECT * EXCLUDE (_seq, _removed) FROM {_read(lake, bases)} ANTI JOIN deltas USING ({keys}) "
        "UNION ALL BY NAME SELECT * EXCLUDE (_seq, _removed) FROM deltas WHERE NOT _removed"
    )


def _read(lake: Path, parts: Sequence[Part]) -> str:
    files = ", ".join(_quoted(str(lake / part.path)) for part in parts)
    return f"read_parquet([{files}], hive_partitioning = false)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
