"""Dot commands: what a shell does beside statements."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from weaklink_processor.commands.sql_forms import BINARY, FORMS
from weaklink_processor.commands.sql_hints import nearest
from weaklink_processor.commands.sql_parameters import ParameterType
from weaklink_processor.commands.sql_watch import watch
from weaklink_processor.errors import UsageError

if TYPE_CHECKING:
    from weaklink_processor.commands.sql_shell import Shell

RELATIONS = """
    SELECT view_name, view_name, comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal
    UNION ALL
    SELECT function_name, format('{}({})', function_name, array_to_string(parameters, ', ')), comment
    FROM duckdb_functions()
    WHERE schema_name = 'main' AND function_type = 'table_macro' AND NOT internal
    ORDER BY ALL
"""
"""Views and macros: name, how it is called, comment."""
COLUMNS = """
    SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal
    ORDER BY table_name, column_index
"""
_SWITCH = {"on": True, "off": False}


@dataclass(frozen=True, slots=True)
class _Dot:
    argument: str
    text: str
    obey: Callable[["Shell", str], None]


def obey(shell: "Shell", line: str) -> None:
    """Do what a line says.

    Raises:
        UsageError: there is no such command, or not with such an argument.
    """
    name, _, argument = line.rstrip("; \n").partition(" ")
    if name not in DOTS:
        near = nearest(name, list(DOTS))
        raise UsageError(f"no command {name}; {f'perhaps {near[0]}' if near else '.help lists them'}")
    DOTS[name].obey(shell, argument.strip())


def _help(_: "Shell", __: str) -> None:
    table = Table.grid(padding=(0, 2))
    for name, dot in DOTS.items():
        table.add_row(Text(f"{name} {dot.argument}"), Text(dot.text))
    _print(table)
    click.echo("A statement ends with ; and may have several lines. Ctrl-C stops a query, Ctrl-D ends.")


def _views(shell: "Shell", _: str) -> None:
    table = Table(Column("view or macro", no_wrap=True), "what it has")
    with shell.session.snapshot() as catalogue:
        for _name, called, comment in catalogue.execute(RELATIONS).fetchall():
            table.add_row(Text(called), Text(_without_columns(comment)))
    _print(table)


def _describe(shell: "Shell", view: str) -> None:
    with shell.session.snapshot() as catalogue:
        relations = {name: (called, comment) for name, called, comment in catalogue.execute(RELATIONS).fetchall()}
        if view not in relations:
            near = nearest(view, list(relations)) or list(relations)
            raise UsageError(f".describe: {view!r}: expected one of {', '.join(near)}")
        columns = [row[1:] for row in catalogue.execute(COLUMNS).fetchall() if row[0] == view]
    called, comment = relations[view]
    _print(Text(f"{called}: {comment or ''}"))
    if columns:
        table = Table(Column("column", no_wrap=True), "type", "meaning")
        for row in columns:
            table.add_row(*(Text(cell or "") for cell in row))
        _print(table)


def _format(shell: "Shell", form: str) -> None:
    forms = ["table", *(form for form in FORMS if form not in BINARY or not sys.stdout.isatty())]
    if form not in forms:
        raise UsageError(f".format: {form!r}: expected one of {', '.join(forms)}")
    shell.session.form = form


def _timer(shell: "Shell", switch: str) -> None:
    if switch not in _SWITCH:
        raise UsageError(f".timer: {switch!r}: expected on or off")
    shell.timer = _SWITCH[switch]


def _param(shell: "Shell", given: str) -> None:
    try:
        parameter = ParameterType()(given)
    except click.BadParameter as error:
        raise UsageError(f".param: {error.message}") from error
    shell.session.parameters += (parameter,)


def _watch(shell: "Shell", seconds: str) -> None:
    try:
        every = float(seconds or 2)
    except ValueError:
        every = 0
    if not every > 0:
        raise UsageError(f".watch: {seconds!r}: expected a number of seconds")
    if shell.latest is None:
        raise UsageError(".watch: no statement was run yet")
    watch(shell.session, shell.latest, shell.max_rows, every)


def _quit(shell: "Shell", _: str) -> None:
    shell.ended = True


def _print(what: Table | Text) -> None:
    Console(highlight=False).print(what)


def _without_columns(comment: str | None) -> str:
    """The comment of a macro lists its columns, as they have none."""
    return (comment or "").partition(" Columns: ")[0]


DOTS: Mapping[str, _Dot] = {
    ".help": _Dot("", "show this", _help),
    ".views": _Dot("", "list views and macros", _views),
    ".describe": _Dot("VIEW", "show its columns and what they mean", _describe),
    ".format": _Dot("FORM", "print results as table, markdown, json, jsonl or csv", _format),
    ".param": _Dot("NAME[:TYPE]=VALUE", "set what $NAME in a statement stands for", _param),
    ".timer": _Dot("on|off", "tell how long statements take", _timer),
    ".watch": _Dot("SECONDS", "run the last statement again and again until Ctrl-C", _watch),
    ".quit": _Dot("", "end", _quit),
}
