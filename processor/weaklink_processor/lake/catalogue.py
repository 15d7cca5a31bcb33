"""`weaklink.duckdb`: views only, over an exact list of parts, made anew and renamed into place at every publication.

Readers open it read-only and never meet a lock, since nobody ever writes to a file they could
have open. One that keeps its connection keeps its state; parts that it lists outlive it for a
grace time.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from weaklink_processor.lake.reading import TableParts, rows_sql


def write_catalogue(path: Path, lake: Path, tables: Mapping[str, TableParts], views: Iterable[str]) -> None:
    """Replace the catalogue at `path`. Schema `lake` gets a view a table; `views` are statements run after that."""
    aside = path.with_suffix(".tmp")
    aside.unlink(missing_ok=True)
    with duckdb.connect(str(aside)) as connection:
        connection.execute("CREATE SCHEMA lake")
        for name, table in tables.items():
            columns = "* EXCLUDE (_seq, _removed)" if table.key else "*"
            connection.execute(f"CREATE VIEW lake.{name} AS SELECT {columns} FROM ({rows_sql(lake, table)})")
        for view in views:
            connection.execute(view)
        connection.execute("CHECKPOINT")
    with aside.open("rb") as file:
        os.fsync(file.fileno())
    aside.rename(path)
