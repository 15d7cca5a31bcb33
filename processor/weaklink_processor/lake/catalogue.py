"""`weaklink.duckdb`: views only, over an exact list of parts, made anew and renamed into place at every publication.

Readers open it read-only and never meet a lock, since nobody ever writes to a file they could
have open. One that keeps its connection keeps its state; parts that it lists outlive it for a
grace time.

DuckDB opens a file twice on its way in, once for its header and once for the rest, and a publication may come in
between. So each file begins as a copy of the one before and is changed as DuckDB changes any file: into blocks that the
old header does not name. Then an old header with a new rest is what the old file was.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
import structlog

from weaklink_processor.lake.reading import MARKS, TableParts, rows_sql

OWN = """
    SELECT 'VIEW', schema_name, view_name FROM duckdb_views() WHERE NOT internal
    UNION ALL
    SELECT 'MACRO TABLE', schema_name, function_name FROM duckdb_functions()
    WHERE function_type = 'table_macro' AND NOT internal
"""
"""What stands in a catalogue, as DROP wants it."""

log = structlog.get_logger(__name__)


class Catalogue:
    """The file at one path, which nobody else writes; `views` are statements over the views of schema `lake`."""

    def __init__(self, path: Path, lake: Path, views: Iterable[str]) -> None:
        self._path, self._lake, self._views = path, lake, tuple(views)
        self._written: dict[str, str] | None = None
        """The views of schema `lake` in the file; None until this object has written all that is in it."""

    @property
    def exists(self) -> bool:
        """Whether readers have ever seen anything here."""
        return self._path.exists()

    def write(self, tables: Mapping[str, TableParts]) -> None:
        """Replace the file: schema `lake` has a view a table."""
        views = {name: self._view(table) for name, table in tables.items()}
        aside = self._path.with_suffix(".tmp")
        aside.unlink(missing_ok=True)
        with self._copied_to(aside) as connection:
            connection.begin()
            written = self._written if self.exists else None
            if written is None:
                _empty(connection)
            for name, view in views.items():
                if written is None or written.get(name) != view:
                    connection.execute(f"CREATE OR REPLACE VIEW lake.{name} AS {view}")
            for statement in self._views if written is None else ():
                connection.execute(statement)
            connection.commit()
            connection.execute("CHECKPOINT")
        self._keep_tail(aside)
        aside.rename(self._path)
        self._written = views

    def _view(self, table: TableParts) -> str:
        columns = f"* EXCLUDE ({', '.join(MARKS)})" if table.key else "*"
        return f"SELECT {columns} FROM ({rows_sql(self._lake, table)})"

    def _copied_to(self, aside: Path) -> duckdb.DuckDBPyConnection:
        if self.exists:
            shutil.copyfile(self._path, aside)
        try:
            return duckdb.connect(str(aside))
        except duckdb.Error as error:
            log.warning("the catalogue cannot be read, and is made anew", file=str(self._path), error=str(error))
            aside.unlink()
            self._written = None
            return duckdb.connect(str(aside))

    def _keep_tail(self, aside: Path) -> None:
        """A checkpoint cuts off the blocks that it leaves free at the end; the old header may name some."""
        old = self._path.read_bytes() if self.exists else b""
        with aside.open("ab") as file:
            file.write(old[file.tell() :])
            file.flush()
            os.fsync(file.fileno())


def _empty(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop what stands in the catalogue: another version of weaklink may have written it."""
    for kind, schema, name in connection.execute(OWN).fetchall():
        connection.execute(f'DROP {kind} "{schema}"."{name}"')
    connection.execute("CREATE SCHEMA IF NOT EXISTS lake")
