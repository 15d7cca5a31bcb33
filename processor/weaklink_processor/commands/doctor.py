"""What spans do not say of memory, what that costs, and the line that mends it."""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import duckdb
from click.core import ParameterSource
from pydantic import TypeAdapter, ValidationError

from weaklink_analysis.doctor.coverage import Coverage, examine
from weaklink_analysis.selection import Selection
from weaklink_processor import wiring
from weaklink_processor.commands.doctor_report import as_json, show
from weaklink_processor.commands.options import PATH, with_config
from weaklink_processor.commands.replay import take
from weaklink_processor.config import Config
from weaklink_processor.config.forwarding import Forward
from weaklink_processor.config.values import PositiveSeconds
from weaklink_processor.errors import UsageError

NOT_COVERED = 1
_SECONDS: TypeAdapter[float] = TypeAdapter(PositiveSeconds)


class _Age(click.ParamType[timedelta]):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        try:
            return timedelta(seconds=_SECONDS.validate_python(value))
        except (ValidationError, OverflowError):
            self.fail(f"{value!r}: expected seconds, or a duration as 30m, 12h or 7d", param, ctx)


@click.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE...]")
@with_config("--data-dir")
@click.option("--service", metavar="NAME", help="Only spans of this service.")
@click.option("--environment", metavar="NAME", help="Only spans of this environment.")
@click.option("--since", type=_Age(), metavar="AGE", help="Only spans that began so long ago at most, as 1h or 7d.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--check", is_flag=True, help="Exit with 1 when something is lacking.")
def doctor(
    config: Config,
    *,
    files: tuple[Path, ...],
    service: str | None,
    environment: str | None,
    since: timedelta | None,
    form: str,
    check: bool,
) -> None:
    """Show what the spans of OTLP files, or of the data folder, do not say of memory, and how to mend it."""
    earliest = datetime.now(UTC) - since if since else None
    with _catalogue(config, files) as catalogue:
        try:
            coverage = examine(catalogue, Selection(service, environment, earliest))
        except duckdb.BinderException as error:
            raise UsageError(
                f"{config.data_dir}: an earlier weaklink wrote it, and not all that is asked for"
            ) from error
        except duckdb.Error as error:
            raise UsageError(str(error)) from error
    _print(coverage, form)
    if check and not coverage.is_covered:
        sys.exit(NOT_COVERED)


@contextmanager
def _catalogue(config: Config, files: tuple[Path, ...]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open that of the data folder; or of files, in a folder that is gone afterwards and sends nothing on."""
    if not files:
        with wiring.open_catalogue(config) as catalogue:
            yield catalogue
        return
    if click.get_current_context().get_parameter_source("data_dir") is ParameterSource.COMMANDLINE:
        raise UsageError(f"--data-dir: {str(config.data_dir)!r}: expected it or files, and not both")
    with tempfile.TemporaryDirectory(prefix="weaklink-") as folder:
        aside = config.model_copy(update={"data_dir": Path(folder) / "data", "forward": Forward()})
        if not take(aside, files).spans:
            raise UsageError(f"{', '.join(map(str, files))}: no spans in it")
        with wiring.open_catalogue(aside) as catalogue:
            yield catalogue


def _print(coverage: Coverage, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(as_json(coverage)))
    else:
        show(coverage)
