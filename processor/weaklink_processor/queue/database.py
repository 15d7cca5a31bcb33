"""The queue's SQLite file: made whole or not at all, opened for durability, its errors told in our terms."""

import os
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib import resources
from pathlib import Path

from weaklink_processor.durable import sync_folder
from weaklink_processor.errors import BrokenStore, Overloaded

SCHEMA_VERSION = 2
PAGE_BYTES = 16_384
USER_VERSION_AT = 60  # https://www.sqlite.org/fileformat2.html#the_database_header
BUSY_SECONDS = 5.0

PRAGMAS = (
    "PRAGMA synchronous = FULL",  # a commit returns after the WAL's fsync
    "PRAGMA fullfsync = ON",  # macOS: fsync alone leaves data in the drive's cache
    "PRAGMA secure_delete = OFF",  # on in some builds, where every release would write its pages again
    "PRAGMA wal_autocheckpoint = 1000",  # pages: 16 MB
    f"PRAGMA journal_size_limit = {64 << 20}",  # what the WAL file is cut back to after a burst
    "PRAGMA trusted_schema = OFF",
)

PASSING_FAULTS = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
"""Primary result codes that say "not now"; every other one says that the file is not what we wrote."""


def create(path: Path) -> None:
    """Make the file, readable by its owner only, unless it is there.

    Built under another name and linked into place, so that another process finds all of it or nothing.
    """
    if path.exists():
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(descriptor)
    draft = Path(name)
    try:
        _fill(draft)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    sync_folder(path.parent)


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing queue file in autocommit mode, and bring it to this version's form, unless it can only be read.

    BrokenStore: it is not one of ours, or from a newer version.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{_mode(path)}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # so that close() may come from another thread
    )
    try:
        version = _known_version(connection, path)
        for pragma in PRAGMAS:
            connection.execute(pragma)
        if version < SCHEMA_VERSION:
            _upgrade(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into Overloaded or BrokenStore, naming the file."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a fault of the caller, such as using a store after closing it
    except sqlite3.Error as error:
        primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        kind = Overloaded if primary in PASSING_FAULTS else BrokenStore
        raise kind(f"{path}: {error}") from error


def _fill(draft: Path) -> None:
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        _upgrade(connection)
        connection.execute("INSERT INTO identity VALUES (?)", (str(uuid.uuid4()),))


def _upgrade(connection: sqlite3.Connection) -> None:
    """Run the steps from the file's version to this one, all or none; an empty file has version 0."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        for version in range(_version(connection) + 1, SCHEMA_VERSION + 1):
            step = resources.files(__package__).joinpath(f"schema_{version}.sql").read_text(encoding="utf-8")
            for statement in _statements(step):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version}")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def look_into(path: Path) -> None:
    """Check the version that a file's header tells, without opening it; a missing file is fine.

    BrokenStore: it is from a newer version.
    """
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(USER_VERSION_AT)
        _refuse_newer(int.from_bytes(file.read(4)), path)


def _refuse_newer(version: int, path: Path) -> None:
    if version > SCHEMA_VERSION:
        raise BrokenStore(f"{path}: queue format {version} is newer than the {SCHEMA_VERSION} that this weaklink reads")


def _mode(path: Path) -> str:
    """As https://www.sqlite.org/uri.html has it: to write, or to look where nobody writes and this user may not."""
    log = path.with_name(f"{path.name}-wal")
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return "mode=rw" if writable or log.exists() else "mode=ro&immutable=1"


def _known_version(connection: sqlite3.Connection, path: Path) -> int:
    version = _version(connection)
    _refuse_newer(version, path)
    if version < 1:
        raise BrokenStore(f"{path}: not a weaklink queue")
    return version
