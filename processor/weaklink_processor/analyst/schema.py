"""Which form of the state this weaklink knows.

Commands that only read import this, so it must not import pyarrow.
"""

from pathlib import Path

import duckdb

from weaklink_processor.errors import BrokenStore

SCHEMA_VERSION = 4


def check_version(connection: duckdb.DuckDBPyConnection, path: Path, schema: str = "main") -> None:
    """Refuse the state of another weaklink.

    Raises:
        BrokenStore: it is one.
    """
    rows = connection.execute(f"SELECT schema_version FROM {schema}.meta").fetchall()  # noqa: S608 - ours, both of them
    if rows and rows[0][0] > SCHEMA_VERSION:
        message = f"{path} has schema version {rows[0][0]}, this weaklink knows up to {SCHEMA_VERSION}: upgrade it"
        raise BrokenStore(message)
    if rows and rows[0][0] < SCHEMA_VERSION:
        message = f"{path} has schema version {rows[0][0]}, from before the first release: begin a new data folder"
        raise BrokenStore(message)


def look_into(path: Path) -> None:
    """Check a state that nobody is at work on; who is has checked it.

    Raises:
        BrokenStore: another weaklink wrote it.
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
        check_version(connection, path, "state")
