"""How the data folder is doing."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import click
import duckdb
from rich.console import Console
from rich.table import Table

from weaklink_processor import wiring
from weaklink_processor.commands.options import with_config
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.supervise.lock import is_held

_COUNTS = {
    "spans": "SELECT count(*) FROM spans",
    "traces": "SELECT count(DISTINCT trace_id) FROM spans",
    "memories": "SELECT count(*) FROM memories",
    "evaluations": "SELECT count(*) FROM evaluations",
}


@dataclass(frozen=True, slots=True)
class Lag:
    """What a consumer of the queue has still before it."""

    rows: int
    seconds: float  # how long its next row has been waiting


@dataclass(frozen=True, slots=True)
class Status:
    """One look at a data folder."""

    data_dir: str
    running: bool
    queue_rows: int
    queue_bytes: int
    quarantined_rows: int
    departed_spans: dict[str, int]  # since the folder was made, by why they left the lake: age, size
    lag: dict[str, Lag]
    lake: dict[str, int]  # empty: nothing published yet


@click.command()
@with_config("--data-dir")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def status(config: Config, form: str) -> None:
    """Show the queue's backlog, what the views hold, and whether a service is running."""
    now = _look(config, datetime.now(UTC))
    if form == "json":
        click.echo(json.dumps(asdict(now)))
    else:
        Console(highlight=False).print(_table(now))


def _look(config: Config, now: datetime) -> Status:
    wiring.require_data_dir(config, wiring.QUEUE_FILE)
    with wiring.open_queue(config) as queue:
        stats = queue.stats()
        departed = {reason: queue.mark(mark) for reason, mark in wiring.DEPARTED.items()}
        lag = {name: _lag(queue, done, stats.last_offset, now) for name, done in sorted(stats.consumers.items())}
    return Status(
        data_dir=str(config.data_dir.absolute()),
        running=is_held(config.data_dir),
        queue_rows=stats.rows,
        queue_bytes=stats.bytes,
        quarantined_rows=stats.quarantined,
        departed_spans=departed,
        lag=lag,
        lake=_counts(config),
    )


def _lag(queue: QueueStore, done: int, last: int, now: datetime) -> Lag:
    waiting = queue.read(done, 1) if done < last else []
    seconds = max((now - waiting[0].received_at).total_seconds(), 0.0) if waiting else 0.0
    return Lag(max(last - done, 0) if waiting else 0, round(seconds, 3))


def _counts(config: Config) -> dict[str, int]:
    if not wiring.is_published(config):
        return {}
    with wiring.open_catalogue(config) as catalogue:
        try:
            return {name: catalogue.execute(query).fetchall()[0][0] for name, query in _COUNTS.items()}
        except duckdb.Error as error:
            raise UsageError(str(error)) from error


def _table(status: Status) -> Table:
    table = Table(title=status.data_dir, show_header=False)
    table.add_row("service", "running" if status.running else "not running")
    table.add_row("queue", f"{status.queue_rows:,} rows, {status.queue_bytes:,} bytes")
    table.add_row("set aside", f"{status.quarantined_rows:,} damaged rows")
    for name, lag in status.lag.items():
        table.add_row(f"behind: {name}", f"{lag.rows:,} rows, {lag.seconds:,.1f} s")
    for name, count in status.lake.items():
        table.add_row(name, f"{count:,}")
    if any(status.departed_spans.values()):
        old, much = status.departed_spans["age"], status.departed_spans["size"]
        table.add_row("spans that left", f"{old:,} too old, {much:,} as the lake was too large")
    if not status.lake:
        table.add_row("spans", "nothing published yet")
    return table
