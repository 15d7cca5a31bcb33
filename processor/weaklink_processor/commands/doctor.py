"""What spans do not say of memory, what that costs, and the line that mends it."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import duckdb

from weaklink_analysis.doctor.coverage import Coverage, examine
from weaklink_analysis.selection import Selection
from weaklink_processor.commands.catalogue import catalogue_of
from weaklink_processor.commands.doctor_report import as_json, show
from weaklink_processor.commands.options import AGE, PATH, with_config
from weaklink_processor.commands.progress import progress_bar
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

NOT_COVERED = 1


@click.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE...]")
@with_config("--data-dir")
@click.option("--service", metavar="NAME", help="Only spans of this service.")
@click.option("--environment", metavar="NAME", help="Only spans of this environment.")
@click.option("--since", type=AGE, metavar="AGE", help="Only spans that began so long ago at most, as 1h or 7d.")
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
    with progress_bar() as progress, catalogue_of(config, files, progress) as catalogue:
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


def _print(coverage: Coverage, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(as_json(coverage)))
    else:
        show(coverage)
