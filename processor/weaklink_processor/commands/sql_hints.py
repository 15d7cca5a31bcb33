"""What DuckDB says of a statement that failed, with where that is, and what may have been meant."""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import duckdb

from weaklink_processor.commands.sql_guard import READ_ONLY

_MOST = 6
_ALIKE = 0.7  # as difflib measures it
_SHOWN = 100  # characters of a line
_COLUMNS = "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
_RELATIONS = """
    SELECT view_name AS name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal
    UNION
    SELECT function_name FROM duckdb_functions()
    WHERE schema_name = 'main' AND function_type = 'table_macro' AND NOT internal
    ORDER BY name
"""
_FUNCTIONS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name ~ '^[a-z]' ORDER BY ALL"
_GUESSES = re.compile(r"\n+(Candidate bindings|Did you mean)\b.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A statement that failed."""

    catalogue: duckdb.DuckDBPyConnection
    statement: str
    name: str
    """What it is about."""

    def rows(self, query: str) -> list[tuple[str, ...]]:
        return self.catalogue.execute(query).fetchall()


def explained(catalogue: duckdb.DuckDBPyConnection, statement: str, error: duckdb.Error) -> str:
    """Return the error's text with the place marked, and what may have been meant."""
    from weaklink_processor.commands.chain_tree import printable

    message = "\n".join(printable(line.expandtabs(4)) for line in str(error).rstrip().split("\n"))
    for pattern, hints in _HINTS:
        if found := re.search(pattern, message):
            name = next((group for group in found.groups() if group), "")
            failure = _Failure(catalogue, statement, name)
            said: list[str] = []
            with suppress(duckdb.Error):
                said = list(hints(failure))
            if said:
                message = _GUESSES.sub("", message)
            marked = [] if "\nLINE " in message else _mark(statement, name)
            return "\n".join([message, *marked, *(f"hint: {hint}" for hint in said)])
    return message


def _column(failure: _Failure) -> Iterator[str]:
    columns = failure.rows(_COLUMNS)
    words = {word.lower() for _, word in _words(failure.statement)}
    here = [column for view, column in columns if view in words] or [column for _, column in columns]
    if near := nearest(failure.name, list(dict.fromkeys(here))):
        yield f"the nearest columns here are {', '.join(near)}"
    if elsewhere := [view for view, column in columns if column == failure.name.lower()]:
        yield f"{failure.name} is a column of {', '.join(elsewhere)}"
    if f'"{failure.name}"' in failure.statement:
        yield f"a text is in single quotes: '{failure.name}'"


def _relation(failure: _Failure) -> Iterator[str]:
    names = [name for (name,) in failure.rows(_RELATIONS)]
    near = nearest(failure.name, names)
    yield f"the nearest views and macros are {', '.join(near)}" if near else f"views and macros: {', '.join(names)}"


def _function(failure: _Failure) -> Iterator[str]:
    if near := nearest(failure.name, [name for (name,) in failure.rows(_FUNCTIONS)]):
        yield f"the nearest functions are {', '.join(near)}"


def _missing(failure: _Failure) -> Iterator[str]:
    yield " ".join(f"--param {name}=VALUE" for name in failure.name.split(", ")) + " gives it"


def _untyped(failure: _Failure) -> Iterator[str]:
    if "$" in failure.statement:
        yield "a parameter is text unless its type is named: --param NAME:TYPE=VALUE"


def _forbidden(_: _Failure) -> Iterator[str]:
    yield f"this {READ_ONLY}"


_HINTS: Sequence[tuple[str, Callable[[_Failure], Iterator[str]]]] = (
    (r'[Cc]olumn (?:named )?"([^"]+)"(?: in \w+ list)? not found|column named "([^"]+)"', _column),
    (r'Table (?:Function )?with name "?([^\s"]+)"? does not exist', _relation),
    (r'(?:Scalar|Aggregate) Function with name "?([^\s"]+)"? does not exist', _function),
    (r'Referenced table "([^"]+)" not found', lambda _: iter(())),
    (r"not provided for the following parameters: (.+)", _missing),
    (r"file system operations are disabled|configuration has been locked|Loading external extensions", _forbidden),
    (r"explicit type casts?", _untyped),
)
"""By what DuckDB says; a group is the name that it is about."""


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that look like it, and those that have it in them or a word like it, the nearest first."""
    wanted = name.lower()
    alike = difflib.get_close_matches(wanted, names, _MOST, _ALIKE)
    related = [n for n in names if wanted in n or difflib.get_close_matches(wanted, n.split("_"), 1, _ALIKE)]
    return list(
        dict.fromkeys([*alike, *sorted(related, key=lambda known: (not known.endswith(wanted), len(known), known))])
    )[:_MOST]


def _words(statement: str) -> Iterator[tuple[int, str]]:
    """Yield each word of a statement and where it begins, as DuckDB takes it apart."""
    text = statement.encode()
    starts = [start for start, _ in duckdb.tokenize(statement)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        word = text[start:end].decode(errors="replace").strip().strip('"')
        yield len(text[:start].decode(errors="replace")), word


def _mark(statement: str, name: str) -> Iterator[str]:
    """Yield the line where a name is, and a line that points at it."""
    place = next((start for start, word in _words(statement) if name and word.lower() == name.lower()), None)
    if place is None:
        return
    from weaklink_processor.commands.chain_tree import printable

    begin = statement.rfind("\n", 0, place) + 1
    line = statement[begin:].partition("\n")[0]
    cut = max(0, place - begin - _SHOWN // 2)
    label = f"LINE {statement.count(chr(10), 0, place) + 1}: {'...' if cut else ''}"
    yield f"{label}{printable(line[cut : cut + _SHOWN])}"
    yield f"{' ' * (len(label) + place - begin - cut)}{'^' * len(name)}"
