"""A statement again and again, each time on the newest results."""

import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

from weaklink_processor.commands.sql_forms import ROWS, Sheet, deliver
from weaklink_processor.commands.sql_session import Session

_AROUND_ROWS = 12  # lines of a table that are no rows, and the one below it


def watch(session: Session, text: str, max_rows: int | None, seconds: float, output: Path | None = None) -> None:
    """Run it until Ctrl-C: a terminal is drawn anew, anything else gets one result after the other.

    Raises:
        UsageError: it cannot be run, or not any more.
    """
    with suppress(KeyboardInterrupt):
        if sys.stdout.isatty() and not output:
            _redraw(session, text, max_rows, seconds)
        while True:
            deliver(session.answer(text, Sheet.of_stdout(max_rows)), output)
            sleep(seconds)


def _redraw(session: Session, text: str, max_rows: int | None, seconds: float) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    bar, session.bar = session.bar, False
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="crop", redirect_stderr=False) as live:
            while True:
                room = max(1, min(max_rows or ROWS, console.height - _AROUND_ROWS))
                shown = session.answer(text, Sheet.of_stdout(room)).read_text("utf-8").rstrip("\n")
                line = f"{datetime.now(UTC):%H:%M:%S} UTC, every {seconds:g} s; Ctrl-C ends it"
                live.update(Text(f"{shown}\n{line}", no_wrap=True, overflow="crop"), refresh=True)
                sleep(seconds)
    finally:
        session.bar = bar
