"""What stands on a memory: the versions derived from it, the reads and decisions; and what if it had been another."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from shlex import quote
from typing import NamedTuple

import click
import duckdb
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from weaklink_processor import wiring
from weaklink_processor.commands.ancestry import Key, own_versions, walk
from weaklink_processor.commands.chain_tree import printable
from weaklink_processor.commands.one_memory import of_one_memory, only
from weaklink_processor.commands.options import FRACTION, with_config
from weaklink_processor.commands.what_if import Assumption, Rescored, rescore
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.wiring.analysing import attribution

_STANDING = """
    SELECT kind, id, hop, trace_id, time
    FROM lake.standing_on((SELECT list(r) FROM reached AS r), $low, $high)
"""
# What names the memory and resolves to nothing: it names no store where several have that id, or it is where nobody
# knows the id, or it came before the write.
_UNTOLD = """
    WITH named AS (
        SELECT 'version' AS kind, d.environment
        FROM lake.derivations AS d
        ANTI JOIN reached AS r ON d.child_key = r.version_key
        WHERE d.parent_id = $id AND d.parent_key IS NULL
        UNION ALL
        SELECT DISTINCT ON (trace_id, span_id) 'read', environment
        FROM lake.memory_operations
        WHERE operation = 'read' AND memory_id = $id AND version_key IS NULL AND store IN ('', $store)
        UNION ALL
        SELECT 'decision', environment
        FROM lake.decisions
        WHERE list_bool_or([r.memory_id = $id AND r.version IS NULL AND r.store IN ('', $store) FOR r IN records])
    )
    SELECT environment, kind, count(*)
    FROM named
    WHERE environment = $environment OR environment NOT IN (
        SELECT environment FROM lake.memory_versions WHERE memory_id = $id
    )
    GROUP BY ALL
    ORDER BY environment, kind DESC
"""
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
    "--what-if",
    "confidence",
    type=FRACTION,
    metavar="CONFIDENCE",
    help="Score the decisions again as if every version of the memory had this declared confidence.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help=f"How to print the result; a table shows {_ROWS} rows at most, json all of them.",
)
def impact(
    config: Config,
    memory_id: str,
    *,
    environment: str | None,
    store: str | None,
    confidence: float | None,
    form: str,
) -> None:
    """Show what stands on a memory: versions derived from it, reads and decisions, with the hops between."""
    with wiring.open_catalogue(config) as catalogue:
        try:
            one = only(catalogue, memory_id, environment, store)
            if confidence is None:
                _print_reached(_reached(catalogue, one), form)
            else:
                _print_rescored(rescore(catalogue, _assumption(config, one, confidence)), form)
            _tell_untold(catalogue, one)
        except duckdb.Error as error:
            raise UsageError(str(error)) from error


def _reached(catalogue: duckdb.DuckDBPyConnection, one: Key) -> list[Reached]:
    low, high = walk(catalogue, own_versions(catalogue, one))
    rows = catalogue.execute(_STANDING, {"low": low, "high": high}).fetchall()
    return [Reached(*row) for row in rows]


def _tell_untold(catalogue: duckdb.DuckDBPyConnection, one: Key) -> None:
    """Say on stderr what names the memory and does not tell it from others."""
    values = {"id": one.memory_id, "environment": one.environment, "store": one.store}
    rows = catalogue.execute(_UNTOLD, values).fetchall()
    told = [
        f"{_counted({kind: number for _, kind, number in of_one})} in environment {quote(printable(environment))}"
        for environment, of_one in groupby(rows, key=itemgetter(0))
    ]
    if told:
        untold = f"not counted, though they name {printable(one.memory_id)} and it may be this one: {'; '.join(told)}"
        click.echo(untold, err=True)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {kind}{'s' * (number > 1)}" for kind, number in counts.items())


def _assumption(config: Config, one: Key, confidence: float) -> Assumption:
    analysis = config.analysis
    return Assumption(
        one.environment,
        one.store,
        one.memory_id,
        confidence,
        max_hops=analysis.max_hops,
        threshold=analysis.threshold,
        unresolved_confidence=analysis.unresolved_confidence,
        attribution=attribution(config),
    )


def _print_reached(reached: list[Reached], form: str) -> None:
    _print(reached, Reached._fields, form, f"reached: {_counted(Counter(row.kind for row in reached))}")


def _print_rescored(rescored: list[Rescored], form: str) -> None:
    changes = {
        "score": sum(row.verdict_changes for row in rescored),
        "score_effective": sum(row.verdict_effective_changes for row in rescored),
    }
    said = ", ".join(f"{number:,} by {name}" for name, number in changes.items())
    _print(rescored, Rescored._fields, form, f"scored again: {len(rescored):,}; other verdicts: {said}")


def _print(rows: Sequence[Reached | Rescored], columns: tuple[str, ...], form: str, total: str) -> None:
    if form == "json":
        click.echo(json.dumps([row._asdict() for row in rows], default=datetime.isoformat))
        return
    console = Console(width=None if sys.stdout.isatty() else _UNBOUNDED, highlight=False)
    draw = _draw if len("┃  ".join(columns)) + len("┃ ┃ ") <= console.width else _list
    draw(console, rows[:_ROWS], columns)
    if len(rows) > _ROWS:
        console.print(f"the first {_ROWS} of {len(rows):,}")
    console.print(total)


def _draw(console: Console, rows: Sequence[Reached | Rescored], columns: tuple[str, ...]) -> None:
    """A line a row; an id that there is no room for goes on in the next."""
    table = Table(*(Column(name, overflow="fold") for name in columns))
    for row in rows:
        table.add_row(*map(_cell, row))
    console.print(table)


def _list(console: Console, rows: Sequence[Reached | Rescored], columns: tuple[str, ...]) -> None:
    """A line a value, where there is no room for the names of the columns beside each other."""
    for row in rows:
        lines = Table.grid(padding=(0, 2))
        for name, value in zip(columns, row, strict=True):
            lines.add_row(name, _cell(value))
        console.print(lines, "", sep="\n")


def _cell(value: object) -> Text:
    match value:
        case None:
            return Text("")
        case bool():
            return Text("yes" if value else "no")
        case float():
            return Text(f"{value:.4f}")
        case datetime():
            return Text(f"{value:%Y-%m-%d %H:%M:%S}")
        case _:
            return Text(printable(str(value)))
