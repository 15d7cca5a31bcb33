"""Options that several commands share, and the settings they make."""

import functools
import math
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from pydantic import TypeAdapter, ValidationError

from weaklink_processor.config.values import PositiveSeconds
from weaklink_processor.sources import FLAGS, load_config

_HELP = {
    "--data-dir": ("FOLDER", "Where weaklink keeps its data.  [default: weaklink-data]"),
    "--grpc": ("HOST:PORT", "Where to listen for OTLP/gRPC; port 0 takes a free one.  [default: 127.0.0.1:4317]"),
    "--http": ("HOST:PORT", "Where to listen for OTLP/HTTP; port 0 takes a free one.  [default: 127.0.0.1:4318]"),
    "--forward": ("ENDPOINT", "Send original spans and evaluations on to this OTLP server."),
    "--enrich": (None, "Send memory spans on with weaklink's numbers as attributes."),
}
"""A flag without a metavar is a switch: it can only be turned on."""

PATH = click.Path(path_type=Path)
_SECONDS: TypeAdapter[float] = TypeAdapter(PositiveSeconds)
# Its error has to be over before `fail` raises: within another it keeps types of DuckDB alive, which that complains of.


class _Age(click.ParamType[timedelta]):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        with suppress(ValidationError, OverflowError):
            return timedelta(seconds=_SECONDS.validate_python(value))
        return self.fail(f"{value!r}: expected seconds, or a duration as 30m, 12h or 7d", param, ctx)


class _Moment(_Age):
    """An age, or a time."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, datetime):
            return value
        with suppress(ValueError):
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
        with suppress(ValidationError, OverflowError):
            return datetime.now(UTC) - timedelta(seconds=_SECONDS.validate_python(value))
        return self.fail(f"{value!r}: expected an age as 30m or 7d, or a time as 2026-11-20T14:00:00Z", param, ctx)


class _Fraction(click.ParamType[float]):
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number <= 1:
            self.fail(f"{value!r}: expected a number from 0 to 1", param, ctx)
        return number


AGE, MOMENT, FRACTION = _Age(), _Moment(), _Fraction()


def with_config(*flags: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command `--config` and these flags; it is called with the settings in force as `config`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def configured(config_file: Path | None, **given: Any) -> Any:
            values = {flag: given.pop(_parameter(flag)) for flag in flags}
            return command(load_config(config_file, os.environ, values), **given)

        for flag in reversed(flags):
            metavar, text = _HELP[flag]
            configured = click.option(
                flag, _parameter(flag), metavar=metavar, help=text, is_flag=metavar is None, default=None
            )(configured)
        return click.option(
            "--config", "config_file", type=PATH, metavar="FILE", help="Settings.  [default: weaklink.yaml, if there]"
        )(configured)

    return decorate


def _parameter(flag: str) -> str:
    return FLAGS[flag].replace(".", "_")
