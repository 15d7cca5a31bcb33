"""One statement on the views of the data folder."""

import shutil
import signal
import sys
import tempfile
from pathlib import Path

import click
import duckdb

from weaklink_processor import wiring
from weaklink_processor.commands.options import PATH, with_config
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

_COPY_OPTIONS = {
    "json": "FORMAT json, ARRAY true",
    "jsonl": "FORMAT json",
    "csv": "FORMAT csv, HEADER true",
    "parquet": "FORMAT parquet",
}
_UNBOUNDED = 10_000  # columns of text, where no terminal sets a limit
_ROWS = 100


@click.command()
@click.argument("statement")
@with_config("--data-dir")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", *_COPY_OPTIONS]),
    default="table",
    show_default=True,
    help=f"How to print the result; a table shows {_ROWS} rows at most, every other form all of them.",
)
@click.option("--output", type=PATH, metavar="FILE", help="Write the result to a file; not for tables.")
def sql(config: Config, statement: str, form: str, output: Path | None) -> None:
    """Run one SQL statement on the views. Times are in UTC."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly in `weaklink sql ... | head`
    _check(form, output)
    with wiring.open_catalogue(config) as catalogue:
        try:
            if form == "table":
                _show(_relation(catalogue, statement))
            else:
                _copy(catalogue, _relation(catalogue, statement), _COPY_OPTIONS[form], output)
        except duckdb.Error as error:
            raise UsageError(str(error)) from error


def _check(form: str, output: Path | None) -> None:
    if form == "table" and output:
        raise UsageError(f"--output: {str(output)!r}: expected with it --format json, jsonl, csv or parquet")
    if form == "parquet" and not output and sys.stdout.isatty():
        raise UsageError("--format: 'parquet': expected with it --output FILE, or a stdout that is no terminal")


def _relation(catalogue: duckdb.DuckDBPyConnection, statement: str) -> duckdb.DuckDBPyRelation:
    statements = catalogue.extract_statements(statement)
    if len(statements) != 1:
        raise UsageError(f"expected one SQL statement, got {len(statements)}")
    relation = catalogue.sql(statements[0].query)
    if relation is None:
        raise UsageError("expected an SQL statement that has a result")
    return relation


def _show(relation: duckdb.DuckDBPyRelation) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBOUNDED
    relation.show(max_width=width, max_rows=_ROWS)


def _copy(
    catalogue: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, options: str, output: Path | None
) -> None:
    """Write the whole result to a file of its own first: a statement that fails midway leaves nothing half-written."""
    with tempfile.TemporaryDirectory(prefix="weaklink-", dir=output.parent if output else None) as folder:
        result = Path(folder) / "result"
        catalogue.register("result", relation)
        catalogue.execute(f"COPY result TO $file ({options})", {"file": str(result)})
        if output:
            result.replace(output)
        else:
            with result.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
