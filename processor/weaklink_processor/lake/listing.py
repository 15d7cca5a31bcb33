"""What a catalogue that was written earlier says of itself: its format, and the parts that it lists.

Commands that only read import this, so it must not import pyarrow.
"""

import re
import shlex
from pathlib import Path

import duckdb

from weaklink_processor.errors import BrokenStore

FORMAT = 1
"""Of parts, and of the catalogue that lists them. In a later one the same names may mean something else."""
FORMAT_VIEW = f"CREATE VIEW lake.format AS SELECT {FORMAT} AS version"
_FORMATS = """
    SELECT file_name, CAST(decode(value) AS INTEGER)
    FROM parquet_kv_metadata($files)
    WHERE decode(key) = 'weaklink.format'
"""
_FOLDER = re.compile(r"read_parquet\(.*?'((?:[^']|'')*?)/\w+/date=[0-9-]+/[\w-]+\.parquet'")
_PART = re.compile(r"\w+/date=[0-9-]+/[\w-]+\.parquet")


def listed_parts(catalogue: duckdb.DuckDBPyConnection) -> set[str]:
    """The paths of the parts that an open catalogue reads, relative to the lake's folder."""
    views = catalogue.execute("SELECT sql FROM duckdb_views() WHERE schema_name = 'lake'").fetchall()
    return {path for (text,) in views for path in _PART.findall(text)}


def listed_folders(catalogue: duckdb.DuckDBPyConnection) -> list[str]:
    """The folders that an open catalogue reads parts from, as they were called when it was written: one, or none."""
    views = catalogue.execute("SELECT sql FROM duckdb_views() WHERE schema_name = 'lake'").fetchall()
    found = {path[1].replace("''", "'") for (text,) in views if (path := _FOLDER.search(text))}
    return sorted(found)


def check_place(catalogue: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a catalogue that reads the parts of another folder than the one that it is in: it was copied, or moved.

    Raises:
        BrokenStore: it is one.
    """
    own = path.with_name("lake")
    for folder in map(Path, listed_folders(catalogue)):
        if not (folder.exists() and own.exists() and folder.samefile(own)):
            raise BrokenStore(
                f"{path} reads the files of {folder}: the data folder was copied or moved from there. "
                f"`weaklink compact --data-dir {shlex.quote(str(path.parent))}` has it read its own"
            )


def check_format(catalogue: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse the catalogue of a newer weaklink, or one whose newest parts are such.

    Raises:
        BrokenStore: it is one.
    """
    newest = {path.partition("/")[0]: path for path in sorted(listed_parts(catalogue), key=_number)}
    files = [str(file) for part in newest.values() if (file := path.with_name("lake") / part).exists()]
    for file, version in catalogue.execute(_FORMATS, {"files": files}).fetchall() if files else ():
        _refuse_newer(version, file)
    known = catalogue.execute("SELECT 1 FROM duckdb_views() WHERE schema_name = 'lake' AND view_name = 'format'")
    if not known.fetchall():
        return  # from before formats had numbers
    ((version,),) = catalogue.execute("SELECT version FROM lake.format").fetchall()
    _refuse_newer(version, path)


def _refuse_newer(version: int, file: object) -> None:
    if version > FORMAT:
        raise BrokenStore(f"{file}: format {version} is newer than the {FORMAT} that this weaklink reads")


def _number(part: str) -> str:
    """By which the parts of a table are ordered."""
    return part.rpartition("-")[2]
