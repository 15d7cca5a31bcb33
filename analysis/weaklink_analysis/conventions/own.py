"""Whether a convention that a user made can be run on every span that will come: told before the first one does."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from weaklink_analysis.conventions import CONVENTIONS, OPERATION_COLUMNS
from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.conventions.model import METADATA, columns, lent, sandbox, select

_REQUIRED = ("row_id", "kind")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TAKEN = {
    "BIGINT": _INTEGERS,
    "INTEGER": _INTEGERS,
    "DOUBLE": (*_INTEGERS, "DOUBLE", "FLOAT", "DECIMAL"),
    "BOOLEAN": ("BOOLEAN",),
    "VARCHAR": ("VARCHAR", "JSON"),
    "raw_confidence": (*_INTEGERS, "DOUBLE", "FLOAT", "DECIMAL"),
}
"""The types of a model's column that are taken for a type of OPERATION_COLUMNS, or for one column; of any, NULL."""
_TABLE_FUNCTIONS = ("range", "generate_series", "unnest", "json_each", "json_tree")
_LINE = re.compile(r"\bLINE (\d+):")
_NOWHERE = 2**64 - 1
"""Where DuckDB says that it does not know a place."""


def faults(conventions: Sequence[Convention]) -> list[str]:
    """What is wrong with them, each with the convention's name and the line of its SQL if it is in a line."""
    names = [convention.name for convention in (*conventions, *CONVENTIONS)]
    doubled = dict.fromkeys(c.name for c in conventions if names.count(c.name) > 1)
    found = [f"{name}: another convention has this name" for name in doubled]
    for convention in conventions:
        try:
            found += [f"{convention.name}: {fault}" for fault in _faults(convention)]
        except duckdb.Error as error:
            found.append(f"{convention.name}: {_told(error)}")
    return found


def _faults(convention: Convention) -> Iterator[str]:
    statements = duckdb.extract_statements(convention.sql)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        yield "expected one SELECT and nothing else"
        return
    # What makes no sense to the parser's reader need not be bound, and what cannot be bound has no columns.
    for look in (_reaching_out, _misnamed):
        found = list(look(convention))
        yield from found
        if found:
            return
    with sandbox(convention) as connection:
        for name, _ in convention.relations():
            connection.execute(f"CREATE VIEW {lent(name, 0)} AS FROM {name}")
        connection.execute(select(convention, 0)).fetchall()


def _misnamed(convention: Convention) -> Iterator[str]:
    known = columns(convention)
    yield from (f"expected a column {column}" for column in _REQUIRED if column not in known)
    for column, kind in known.items():
        expected = "VARCHAR" if column == METADATA else OPERATION_COLUMNS.get(column)
        if expected is None:
            yield f"unknown column {column}; there are {', '.join((*OPERATION_COLUMNS, METADATA))}"
        elif not kind.startswith((*_TAKEN.get(column, ()), *_TAKEN[expected], '"NULL"')) or kind.endswith("]"):
            yield f"column {column} is {kind}, expected {expected}"


def _reaching_out(convention: Convention) -> Iterator[str]:
    """Whatever reaches out of the relations, or does not give the same for the same spans."""
    with sandbox(convention) as connection:
        ((text,),) = connection.execute("SELECT json_serialize_sql($1)", [convention.sql]).fetchall()
        rows = connection.execute("SELECT function_name FROM duckdb_functions() WHERE stability <> 'CONSISTENT'")
        unsteady = {name for (name,) in rows.fetchall()}
    tree = json.loads(text)
    relations = [name for name, _ in convention.relations()]
    known = {*relations, *(key for node in _nodes(tree, "key", "value") for key in [node["key"]])}
    for node in _nodes(tree, "table_name", "schema_name"):
        if node["schema_name"] or node["table_name"] not in known:
            place = _line(convention, node)
            yield f"{place}there is no relation {node['table_name']}; there are {', '.join(relations)}"
    for node in _nodes(tree, "function"):
        if (name := node["function"].get("function_name")) not in _TABLE_FUNCTIONS:
            yield f"{_line(convention, node)}a table function {name} is not allowed"
    for node in _nodes(tree, "function_name"):
        if node["function_name"] in unsteady:
            name = node["function_name"]
            yield f"{_line(convention, node)}the function {name} is not allowed: it does not depend on the spans alone"


def _nodes(tree: Any, *keys: str) -> Iterator[dict[str, Any]]:
    """Every node of a parsed statement that has these keys."""
    if isinstance(tree, dict) and all(key in tree for key in keys):
        yield tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(child, *keys)


def _line(convention: Convention, node: Mapping[str, Any]) -> str:
    place = node.get("query_location", _NOWHERE)
    lines = convention.sql.encode()[:place].count(b"\n") + 1
    return "" if place == _NOWHERE else f"line {lines}: "


def _told(error: duckdb.Error) -> str:
    """DuckDB's message in one line, the line of the SQL first."""
    message = str(error)
    found = _LINE.search(message)
    first = message.split("\n\n", 1)[0].replace("\n", " ").strip()
    return f"line {found[1]}: {first}" if found else first
