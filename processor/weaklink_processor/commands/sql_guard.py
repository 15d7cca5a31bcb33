"""`weaklink sql` reads the views and nothing else, whatever the statement.

The catalogue is opened read-only, no other file can be reached, and no setting can be changed: DuckDB sees to that. But
what may be read may also be written to with COPY, so a statement that could contain one is looked at before it runs.
"""

import re
from pathlib import Path
from typing import Any

import duckdb

from weaklink_processor.errors import UsageError
from weaklink_processor.lake.listing import listed_folders

READ_ONLY = (
    "is not possible: `weaklink sql` is read-only and reads the views alone; a result is written with --output FILE"
)

_READING = ("SELECT", "EXPLAIN", "MULTI")
"""MULTI is a PIVOT whose values are looked up first. SHOW, DESCRIBE and SUMMARIZE count as SELECT."""
_MAY_WRITE = re.compile("copy|query|json_execute", re.IGNORECASE)
"""In every statement that writes a file one of these stands. WITH takes a COPY; the last two run a text that is made on
the way."""
_WRITES = re.compile('"name": "[A-Z_]*(COPY_TO_FILE|JSON_EXECUTE_SERIALIZED_SQL)')
_RUNS = re.compile("analy[sz]e", re.IGNORECASE)
_EXPLAINED = re.compile(r"\s*EXPLAIN\s+ANALY[SZ]E\s(.*)", re.IGNORECASE | re.DOTALL)


def lock(catalogue: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Let an open catalogue reach its own parts and this folder only, for good."""
    reachable = [*listed_folders(catalogue), str(folder)]
    for name, value in {
        "temp_directory": str(folder / "spilled"),
        "allowed_directories": reachable,
        "enable_progress_bar": True,
        "enable_progress_bar_print": False,
        "enable_external_access": False,
        "lock_configuration": True,
    }.items():
        catalogue.execute(f"SET {name} = $value", {"value": value})


def require_reading(catalogue: duckdb.DuckDBPyConnection, statement: duckdb.Statement, values: dict[str, Any]) -> None:
    """Refuse a statement that is more than a question.

    Raises:
        UsageError: it is.
        duckdb.Error: it cannot be run anyway.
    """
    if _kind(statement) not in _READING:
        raise UsageError(f"{_kind(statement).replace('_', ' ')} {READ_ONLY}")
    if _MAY_WRITE.search(statement.query) and _writes(catalogue, statement, values):
        raise UsageError(f"writing within a statement {READ_ONLY}")


def _writes(catalogue: duckdb.DuckDBPyConnection, statement: duckdb.Statement, values: dict[str, Any]) -> bool:
    text = statement.query
    if _kind(statement) == "EXPLAIN":
        if not _RUNS.search(text):
            return False
        if (found := _EXPLAINED.fullmatch(text)) is None:
            return True
        text = found[1]
    plans = catalogue.execute(f"EXPLAIN (FORMAT json) {text}", values).fetchall()
    return any(_WRITES.search(plan) for _, plan in plans)


def _kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:  # the Python client does not know all
        return "this statement"
