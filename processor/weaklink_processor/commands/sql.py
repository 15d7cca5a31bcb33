"""Statements on the views of the data folder."""

import signal
import sys
from pathlib import Path

import click

from weaklink_processor.commands.options import PATH, with_config
from weaklink_processor.commands.sql_flow import Flow
from weaklink_processor.commands.sql_forms import BINARY, FORMS, ROWS, Sheet, deliver
from weaklink_processor.commands.sql_parameters import Parameter, ParameterType
from weaklink_processor.commands.sql_session import Session
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError


@click.command()
@click.argument("statement", required=False)
@with_config("--data-dir")
@click.option("--file", type=PATH, metavar="FILE", help="Read the statement from a file; - is standard input.")
@click.option(
    "--param",
    "parameters",
    type=ParameterType(),
    multiple=True,
    metavar="NAME[:TYPE]=VALUE",
    help="What $NAME in the statement stands for; may be given several times.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", *FORMS]),
    default="table",
    show_default=True,
    help=f"How to print the result; a table shows {ROWS} rows at most, every other form all of them.",
)
@click.option("--max-rows", type=click.IntRange(min=1), metavar="NUMBER", help="How many rows to print at most.")
@click.option("--output", type=PATH, metavar="FILE", help="Write the result to a file; not for tables.")
@click.option(
    "--watch",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Run the statement again every so often, on the newest results, until Ctrl-C.",
)
def sql(
    config: Config,
    statement: str | None,
    *,
    file: Path | None,
    parameters: tuple[Parameter, ...],
    form: str,
    max_rows: int | None,
    output: Path | None,
    seconds: float | None,
) -> None:
    """Run one SQL statement on the views, or several, one by one, if none is given. Times are in UTC."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, which leaves no temporary files
    _check(form, output)
    text = _text(statement, file)
    if text is None and (output or seconds):
        raise UsageError(f"{'--output' if output else '--watch'}: expected with it a STATEMENT or --file")
    with Session.opened(config, parameters, form, output) as session:
        if text is None:
            from weaklink_processor.commands.sql_shell import run

            run(session, max_rows)
        elif seconds is not None:
            from weaklink_processor.commands.sql_watch import watch

            watch(session, text, max_rows, seconds, output)
        elif output:
            deliver(session.answer(text, Sheet.of_stdout(max_rows)), output)
        else:
            flow = Flow(session.result)
            session.answer(text, Sheet.of_stdout(max_rows), flow.more)
            flow.end()


def _check(form: str, output: Path | None) -> None:
    if form == "table" and output:
        raise UsageError(f"--output: {str(output)!r}: expected with it --format {', '.join(FORMS)}")
    if form in BINARY and not output and sys.stdout.isatty():
        raise UsageError(f"--format: {form!r}: expected with it --output FILE, or a stdout that is no terminal")


def _text(statement: str | None, file: Path | None) -> str | None:
    """Return what is to be run; None: it comes bit by bit."""
    if statement is not None and file:
        raise UsageError(f"--file: {str(file)!r}: expected without a STATEMENT")
    source = Path("-") if statement == "-" else file
    if source is None:
        return statement
    try:
        return sys.stdin.read() if source == Path("-") else source.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--file: {str(source)!r}: {error}") from error
