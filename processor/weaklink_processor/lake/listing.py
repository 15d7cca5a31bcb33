"""What a catalogue that was written earlier says of itself: its format, and the parts that it lists.

Commands that only read import this, so it must not import pyarrow.
"""

import re
from pathlib import Path

import duckdb

from weaklink_processor.errors import BrokenStore

FORMAT = 1
"""Of parts, and of the catalogue that lists them. In a later one the same names may mean something else."""
FORMAT_VIEW = f"CREATE VIEW lake.format AS SELECT {FORMAT} AS version"
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


def check_format(catalogue: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse the catalogue of a newer weaklink.

    Raises:
        BrokenStore: it is one.
    """
    known = catalogue.execute("SELECT 1 FROM duckdb_views() WHERE schema_name = 'lake' AND view_name = 'format'")
    if not known.fetchall():
        return  # from before formats had numbers
    ((version,),) = catalogue.execute("SELECT version FROM lake.format").fetchall()
    if version > FORMAT:
        raise BrokenStore(f"{path}: format {version} is newer than the {FORMAT} that this weaklink reads")
