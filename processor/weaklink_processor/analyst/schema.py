"""Which form of the state this weaklink knows.

Commands that only read import this, so it must not import pyarrow.
"""

from pathlib import Path

import duckdb

from weaklink_processor.errors import BrokenStore

SCHEMA_VERSION = 9
OLDEST = 8
"""The first that is brought up to date: 9 has `issued.made_at`, which who knows 8 cannot write."""


def check_version(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse the state of another weaklink.

    Raises:
        BrokenStore: it is one.
    """
    version = _version(connection, "main")
    _refuse_newer(version, path)
    if version is not None and version < OLDEST:
        raise BrokenStore(
            f"{path} has schema version {version}, from before the first release: begin a new data folder"
        )


def look_into(path: Path) -> None:
    """Check a state that nobody is at work on; who is has checked it.

    Raises:
        BrokenStore: a newer weaklink wrote it.
    """
    if not path.exists() or path.with_name(f"{path.name}.wal").exists():
        return  # a log that was left behind may be long, and is for who goes on with it
    with duckdb.connect() as connection:
        try:
            connection.execute("ATTACH $path AS state (READ_ONLY)", {"path": str(path)})
        except duckdb.Error as error:
            if "Could not set lock" in str(error):
                return
            raise BrokenStore(f"{path}: this weaklink cannot read it: {error}") from error
        _refuse_newer(_version(connection, "state"), path)


def _version(connection: duckdb.DuckDBPyConnection, database: str) -> int | None:
    """None: nothing is written yet."""
    rows = connection.execute("SELECT schema_version FROM query_table($meta)", {"meta": f"{database}.meta"}).fetchall()
    return int(rows[0][0]) if rows else None


def _refuse_newer(version: int | None, path: Path) -> None:
    if version is not None and version > SCHEMA_VERSION:
        raise BrokenStore(
            f"{path} has schema version {version}, this weaklink knows up to {SCHEMA_VERSION}: upgrade it"
        )
