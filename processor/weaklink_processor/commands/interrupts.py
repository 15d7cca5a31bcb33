"""Ctrl-C and SIGTERM amid a query: DuckDB makes a RuntimeError of what their handler raises."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

INTERRUPTED = 130
"""What shells have for a program that Ctrl-C ended."""
_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_NOT_OURS = (signal.SIG_IGN, None)
"""Handlers of signals that do nothing here, or that only C knows of."""


@contextmanager
def put_off() -> Iterator[Callable[[], None]]:
    """Yield what heeds a signal that has come, to be called where no query is at work; else it is heeded at the end.

    An analysis that a signal stops would take it for a fault of its rows, and set them aside.
    """
    before = {number: handler for number in _NUMBERS if (handler := signal.getsignal(number)) not in _NOT_OURS}
    come: list[int] = []

    def heed() -> None:
        if come:
            restore()
            signal.raise_signal(come.pop())

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, lambda got, _: come.append(got))
    try:
        yield heed
    finally:
        restore()
    heed()


def stopped_a_query(error: RuntimeError) -> bool:
    """Whether this is what DuckDB made of a signal."""
    return str(error) == "Query interrupted"


def end_at_once(reason: BaseException | None) -> NoReturn:
    """End as a command does that Ctrl-C or a closed pipe stops, without a wait for threads that do not end."""
    if isinstance(reason, KeyboardInterrupt):
        sys.stderr.write("Aborted!\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    os._exit(1)
