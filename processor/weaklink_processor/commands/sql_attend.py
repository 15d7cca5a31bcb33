"""A query at work: it can be stopped with Ctrl-C at any moment, and a long one shows how far it is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from time import monotonic

import duckdb

PATIENCE = 1.0
"""Seconds before a bar is shown."""
_LOOK = 0.1
STOPPING = 3.0
"""Seconds within which a query that is told to stop does."""


class Stuck(Exception):
    """A query that was told to stop does not: its connection is of no use, nor can it be closed.

    Where DuckDB 2.0 breaks off a COPY, threads that write the file may wait for each other for ever.
    """


class _Work:
    """Runs a function beside the main thread, which alone is told of Ctrl-C."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._error: BaseException | None = None
        self.done = Event()  # until Python 3.13, Thread.join that is interrupted takes the thread for ended
        Thread(target=self._run, daemon=True).start()

    def raise_error(self) -> None:
        if self._error:
            raise self._error

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where it was called for
            self._error = error
        finally:
            self.done.set()


def attended(
    catalogue: duckdb.DuckDBPyConnection, work: Callable[[], None], *, bar: bool, print_more: Callable[[], bool] = bool
) -> None:
    """Do work on this connection; with `bar`, stderr shows how far it is when it takes long, if it is a terminal.

    `print_more` is called now and then, and returns whether there is something; then there is no bar any more.

    Raises:
        KeyboardInterrupt: the user stopped it.
        OSError: what has come cannot be printed.
        Stuck: of either of these, and the query goes on.
    """
    at_work = _Work(work)
    try:
        _wait(at_work.done, catalogue, print_more, bar=bar and sys.stderr.isatty())
    except (KeyboardInterrupt, OSError) as reason:
        catalogue.interrupt()
        if not _ends(at_work.done):
            raise Stuck from reason
        raise
    at_work.raise_error()


def _ends(done: Event) -> bool:
    try:
        return done.wait(STOPPING)
    except KeyboardInterrupt:  # once more: the user waits no longer
        return done.is_set()


def _wait(done: Event, catalogue: duckdb.DuckDBPyConnection, print_more: Callable[[], bool], *, bar: bool) -> None:
    until, show = monotonic() + PATIENCE, None
    with ExitStack() as shown:
        while not done.wait(_LOOK):
            if print_more():
                shown.close()
                bar = False
            elif bar and monotonic() >= until:
                show = show or shown.enter_context(_bar())
                show(catalogue.query_progress())


@contextmanager
def _bar() -> Iterator[Callable[[float], None]]:
    """Yield what shows a percentage; below 0 it is not known."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), "Ctrl-C stops it")
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("", total=None)
        yield lambda percent: bar.update(task, total=100 if percent > 0 else None, completed=max(percent, 0))
