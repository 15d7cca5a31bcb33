"""The catalogue that a command looks at: that of the data folder, or of files that are analysed for it alone."""

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import duckdb
from click.core import ParameterSource

from weaklink_processor import wiring
from weaklink_processor.commands.interrupts import stopped_a_query
from weaklink_processor.commands.progress import Progress, unseen
from weaklink_processor.config import Config
from weaklink_processor.config.forwarding import Forward
from weaklink_processor.errors import UsageError

TERMINATED = 128 + signal.SIGTERM
"""What shells have for a program that SIGTERM ended."""


class NoSpans(UsageError):
    """The files can be read, and hold nothing."""


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM, with which CI ends a job, clear up: the exit code is that of a program that does not hear it."""
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True
        sys.exit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except RuntimeError as error:
        if ended and stopped_a_query(error):
            sys.exit(TERMINATED)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def catalogue_of(
    config: Config, files: tuple[Path, ...], progress: Progress = unseen
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open that of the data folder; or of files, in a folder that is gone afterwards and sends nothing on.

    Of several files, standard error names those without spans.

    Raises:
        UsageError: both are named, or one cannot be read; NoSpans: there is no span in the files.
    """
    if not files:
        with wiring.open_catalogue(config) as catalogue:
            yield catalogue
        return
    if click.get_current_context().get_parameter_source("data_dir") is ParameterSource.COMMANDLINE:
        raise UsageError(f"--data-dir: {str(config.data_dir)!r}: expected it or files, and not both")
    from weaklink_processor.commands.replay import take  # noqa: PLC0415 - what reads a data folder needs none of it

    with _ended_in_order(), tempfile.TemporaryDirectory(prefix="weaklink-") as folder:
        aside = config.model_copy(update={"data_dir": Path(folder) / "data", "forward": Forward()})
        tally = take(aside, files, progress, thrifty=True)
        if not tally.spans:
            raise NoSpans(f"{', '.join(map(str, files))}: no spans in it")
        for file in tally.without:
            click.echo(f"{file}: no spans in it", err=True)
        with wiring.open_catalogue(aside) as catalogue:
            yield catalogue
