"""How the data folder is doing."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from weaklink_analysis.printable import printable
from weaklink_processor.commands.options import with_config
from weaklink_processor.commands.overview import Lag, Status, look
from weaklink_processor.config import Config

SHOWN_ERRORS = 5
NOT_WELL = 1
_MIB = 1024 * 1024


@click.command()
@with_config("--data-dir")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--check", is_flag=True, help="Exit with 1 when something is wrong.")
def status(config: Config, form: str, check: bool) -> None:  # noqa: FBT001  click's way
    """Show whether a service is running, what waits, what went wrong, and how much there is."""
    now = look(config, datetime.now(UTC))
    if form == "json":
        click.echo(json.dumps(asdict(now)))
    else:
        console = Console(highlight=False)
        console.print(escape(printable(now.data_dir)), soft_wrap=True)
        console.print(_table(now))
    if check and now.problems:
        sys.exit(NOT_WELL)


def _table(status: Status) -> Table:
    table = Table(show_header=False)
    for name, text in _rows(status):
        table.add_row(escape(name), escape(text))
    return table


def _rows(status: Status) -> Iterator[tuple[str, str]]:
    yield "service", "running" if status.running else "not running"
    for problem in status.problems:
        yield "problem", problem
    full = status.queue_bytes / status.queue_max_bytes
    yield "queue", f"{status.queue_rows:,} rows, {status.queue_bytes:,} bytes ({full:.1%} full)"
    for name, lag in status.lag.items():
        yield f"behind: {name}", _lag(lag)
    for one in status.destinations:
        yield f"destination: {one.consumer}", f"{one.state} since {one.since}" if one.since else one.state
    for name, count in status.passed_over.items():
        yield f"passed over: {name}", f"{count:,}"
    yield "set aside", f"{status.quarantined_rows:,} damaged rows"
    for row in status.quarantine:
        yield "", f"row {row.offset} of {row.received_at}: {row.reason}"
    disk = status.disk
    sizes = (("queue", disk.queue), ("state", disk.state), ("lake", disk.lake), ("free", disk.free))
    yield "disk", ", ".join(f"{name} {size / _MIB:,.1f} MiB" for name, size in sizes)
    yield from _lake(status)
    for error in status.errors[:SHOWN_ERRORS]:
        times = f" ({error.count:,} times since {error.first_at})" if error.count > 1 else ""
        yield f"error: {error.process}", f"{error.last_at}: {error.text}{times}"


def _lag(lag: Lag) -> str:
    about = "about " if lag.estimated else ""
    return f"{lag.rows:,} rows, {about}{lag.requests:,} requests, {about}{lag.spans:,} spans, {lag.seconds:,.1f} s"


def _lake(status: Status) -> Iterator[tuple[str, str]]:
    for name, count in status.lake.items():
        yield name, f"{count:,}"
    if not status.lake:
        yield "spans", "nothing published yet"
    if any(status.departed_spans.values()):
        old, much = status.departed_spans["age"], status.departed_spans["size"]
        yield "spans that left", f"{old:,} too old, {much:,} as the lake was too large"
