"""A convention's model as part of a query, once it is known to be one."""

import re
from collections.abc import Collection
from functools import cache

import duckdb

from weaklink_analysis.conventions import OPERATION_COLUMNS
from weaklink_analysis.conventions.convention import Convention

_TAIL = re.compile(r";(\s|--[^\n]*(\n|\Z))*\Z")
METADATA = "metadata"
"""A column that a model may yield beside OPERATION_COLUMNS: a JSON object, as text, of what is said of the record."""
_KNOWN = "nullif(nullif(json_extract_string(said, '{}'), ''), 'unknown')"
_SAID = {
    "memory_type": "json_extract_string(said, '$.type')",
    "namespace": "json_extract_string(said, '$.namespace')",
    "record_agent": f"coalesce({_KNOWN.format('$.created_by')}, {_KNOWN.format('$.agent_id')})",
    "record_session": _KNOWN.format("$.session_id"),
    "raw_confidence": "json_extract_string(said, '$.confidence')",
    "hedged": "json_extract_string(said, '$.hedged') = 'true'",
    "about": "CAST(json_array(said) AS VARCHAR)",
    "parents_json": "nullif(CAST(json_extract(said, '$.derived_from') AS VARCHAR), 'null')",
}
"""What a record's `metadata`, where a model yields such a column, says of other columns: that goes first."""
_PARSED = """,
    CASE WHEN json_valid(metadata) THEN CASE WHEN json_type(metadata) = 'OBJECT' THEN json(metadata) END END AS said
"""
KINDS = ("write", "read", "get", "delete", "outcome", "lineage", "conflict", "other")
"""What operations.py knows; a row of another kind is none."""
_OTHERWISE = {"ordinal": "0", "counted": "kind IN ('write', 'read', 'outcome', 'lineage')"}
"""What a column is that the model does not yield; the others are null."""


def quoted(name: str) -> str:
    """The name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def select(convention: Convention, place: int) -> str:
    """The query of what the convention recognises: OPERATION_COLUMNS, its name, and its place in the precedence.

    It selects from relations of the names that `lent` gives.
    """
    known = columns(convention)
    chosen = ", ".join(
        f"CAST({_column(column, known, own=convention.own_sql is not None)} AS {kind}) AS {column}"
        for column, kind in OPERATION_COLUMNS.items()
    )
    asked = ", ".join(f"{name} AS (FROM {lent(name, place)})" for name, _ in convention.relations())
    label = convention.name.replace("'", "''")
    model = _TAIL.sub("", convention.sql)
    return (
        f"(WITH {asked} SELECT {chosen}, '{label}' AS convention, {place} AS place "  # noqa: S608 - a user's model was checked
        f"FROM (SELECT *{_PARSED if METADATA in known else ''} FROM (\n{model}\n)) WHERE kind IN {KINDS})"
    )


def _column(column: str, known: Collection[str], *, own: bool) -> str:
    if column == "ordinal" and own:  # two rows of a span with one ordinal would be one row of the engine's
        order = ", ".join(key for key in ("ordinal", "memory_id", "kind") if key in known)
        return f"row_number() OVER (PARTITION BY row_id ORDER BY {order}) - 1"
    said = _SAID.get(column) if METADATA in known else None
    ways = (said, column if column in known else None, _OTHERWISE.get(column), "NULL")
    return f"coalesce({', '.join(way for way in ways if way)})"


def tells(convention: Convention) -> bool:
    """Whether the model may say how a memory came to be."""
    return bool({"about", METADATA} & columns(convention).keys())


def lent(relation: str, place: int) -> str:
    """The name on the connection of what the model of the convention at this place knows as `relation`."""
    return f"{relation}_{place}"


@cache
def columns(convention: Convention) -> dict[str, str]:
    """The columns that the model yields, with their types.

    Raises:
        duckdb.Error: it is no query of the relations that it may select from.
    """
    with sandbox(convention) as connection:
        return {name: str(kind) for name, kind, *_ in connection.execute(f"DESCRIBE {convention.sql}").fetchall()}


def sandbox(convention: Convention) -> duckdb.DuckDBPyConnection:
    """A database that has the model's relations, all empty, and can reach nothing else."""
    connection = duckdb.connect(
        config={"threads": 1, "enable_external_access": False, "python_enable_replacements": False}
    )
    for name, made in convention.relations():
        described = ", ".join(f"{quoted(column)} {kind}" for column, kind in made)
        connection.execute(f"CREATE TABLE {name} ({described})")
    connection.execute("SET lock_configuration = true")
    return connection
