"""How far a long piece of work is, for whoever sits at a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, float], None]
"""Hears what is being done, and which share of it is, from 0 to 1."""


def unseen(_doing: str, _share: float) -> None:
    """Nobody looks."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Draw a bar on standard error while it lasts, if that is a terminal; it is gone afterwards."""
    if not sys.stderr.isatty():
        yield unseen
        return
    from rich import console, progress  # noqa: PLC0415 - most runs draw none

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bars:
        task = bars.add_task("reading", total=1.0)
        yield lambda doing, share: bars.update(task, description=doing, completed=share)
