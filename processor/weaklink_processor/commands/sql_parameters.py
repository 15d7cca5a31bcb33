"""Values that a statement names as $NAME: `NAME=VALUE` is text that takes the type its place asks for."""

import re
from typing import Any, NamedTuple

import click
import duckdb

from weaklink_processor.errors import UsageError

_FORM = re.compile(r"(?P<name>[A-Za-z_]\w*)(?::(?P<type>[^=]+))?=(?P<text>.*)", re.DOTALL)


class Parameter(NamedTuple):
    """A value as it was given. `type`: an SQL type; None: whatever its place asks for."""

    name: str
    type: str | None
    text: str


class ParameterType(click.ParamType[Parameter]):
    """NAME=VALUE or NAME:TYPE=VALUE."""

    name = "parameter"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Parameter:
        """Take it apart; whether it is of its type, the engine knows."""
        if (found := _FORM.fullmatch(value)) is None:
            self.fail(f"{value!r}: expected NAME=VALUE or NAME:TYPE=VALUE, as in min:double=0.4", param, ctx)
        return Parameter(**found.groupdict())


def bound(catalogue: duckdb.DuckDBPyConnection, parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """Return what a statement takes, by name; of several of one name the last counts.

    Raises:
        UsageError: one is not of its type, or there is no such type.
    """
    return {parameter.name: _value(catalogue, parameter) for parameter in parameters}


def _value(catalogue: duckdb.DuckDBPyConnection, parameter: Parameter) -> Any:
    if parameter.type is None:
        return parameter.text
    try:
        value = duckdb.Value(parameter.text, catalogue.type(parameter.type))
        catalogue.execute("SELECT $value", {"value": value}).fetchall()
    except duckdb.Error as error:
        raise UsageError(f"--param {parameter.name}:{parameter.type}: {parameter.text!r}: {error}") from error
    return value
