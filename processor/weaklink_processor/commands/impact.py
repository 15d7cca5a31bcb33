"""What stands on a memory: the versions derived from it, and who read one of those."""

import json
import sys
from collections import Counter
from datetime import datetime
from typing import NamedTuple

import click
import duckdb
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weaklink_processor import wiring
from weaklink_processor.commands.chain_tree import printable
from weaklink_processor.commands.one_memory import of_one_memory, only
from weaklink_processor.commands.options import with_config
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

_IMPACT = "SELECT kind, id, hop, trace_id, time FROM impact_of($id, environment := $environment, store := $store)"
_UNBOUNDED = 10_000  # columns of text, where no terminal sets a limit
_ROWS = 100


class Reached(NamedTuple):
    """A row of `impact_of`."""

    kind: str
    id: str
    hop: int
    trace_id: str
    time: datetime


@click.command()
@of_one_memory
@with_config("--data-dir")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help=f"How to print the result; a table shows {_ROWS} rows at most, json all of them.",
)
def impact(config: Config, memory_id: str, environment: str | None, store: str | None, form: str) -> None:
    """Show every version derived from a memory, and every read of one, with the hops between."""
    with wiring.open_catalogue(config) as catalogue:
        try:
            one = only(catalogue, memory_id, environment, store)
            values = {"id": one.memory_id, "environment": one.environment, "store": one.store}
            reached = [Reached(*row) for row in catalogue.execute(_IMPACT, values).fetchall()]
        except duckdb.Error as error:
            raise UsageError(str(error)) from error
    if form == "json":
        click.echo(json.dumps([row._asdict() | {"time": row.time.isoformat()} for row in reached]))
    else:
        _print(reached)


def _print(reached: list[Reached]) -> None:
    table = Table(*Reached._fields)
    for row in reached[:_ROWS]:
        table.add_row(row.kind, Text(printable(row.id)), str(row.hop), row.trace_id, f"{row.time:%Y-%m-%d %H:%M:%S}")
    console = Console(width=None if sys.stdout.isatty() else _UNBOUNDED, highlight=False)
    console.print(table)
    if len(reached) > _ROWS:
        console.print(f"the first {_ROWS} of {len(reached):,}")
    counts = Counter(row.kind for row in reached)
    console.print("reached: " + ", ".join(f"{number:,} {kind}{'s' * (number > 1)}" for kind, number in counts.items()))
