"""What to do with a queue row that brings the analyst down: try it elsewhere, and set it aside if it fails there too.

Native code, a decoder's or DuckDB's, can take the whole process with it. The offset of the row about to
be worked on is noted durably; a process that finds its predecessor's note, twice, goes row by row and has
each tried in a process of its own first.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence

from weaklink_processor.queue.store import QueueStore, Row

Rehearse = Callable[[Sequence[bytes]], None]
"""Does all that is done with a row's requests, and keeps nothing of it."""

TRYING, DEATHS = "analyst.trying", "analyst.deaths"
"""Marks in the queue: the first row of the step under way, and how many processes have died in it."""
DEATHS_TOLERATED = 2
TRIAL_SECONDS = 120.0
ASKED_TO_END = (-signal.SIGINT, -signal.SIGTERM)


class Caution:
    """Remembers across deaths of the process which row was being worked on."""

    def __init__(self, queue: QueueStore, rehearse: Rehearse) -> None:
        self._queue, self._rehearse = queue, rehearse
        self._noted = {name: queue.mark(name) for name in (TRYING, DEATHS)}
        self._suspect = self._noted[TRYING]
        self._deaths = self._noted[DEATHS] + 1 if self._suspect else 0
        self._note(DEATHS, self._deaths)

    def before(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows to apply now, none if the first of them was set aside; to be called before they are decoded."""
        first = rows[0].offset
        if first == self._suspect and self._deaths >= DEATHS_TOLERATED:
            rows = rows[:1]
            if not _survives(self._rehearse, rows[0].requests):
                self._queue.quarantine(first, "it brings the analyst down")
                return []
        self._note(TRYING, first)
        return rows

    @property
    def alert(self) -> bool:
        """Whether a predecessor died at work: then each row must be decoded under its own note, not ahead of time."""
        return self._deaths > 0

    def after(self) -> None:
        """The rows are applied."""
        if self._deaths:
            self._deaths, self._suspect = 0, 0
            self._note(DEATHS, 0)

    def rest(self) -> None:
        """Nothing is being worked on: an end from here on is nobody's fault."""
        self._note(TRYING, 0)

    def _note(self, name: str, value: int) -> None:
        """Keep it durably, unless it is kept already: at rest nothing is to be written."""
        if self._noted[name] != value:
            self._queue.set_mark(name, value)
            self._noted[name] = value


def _survives(rehearse: Rehearse, requests: Sequence[bytes]) -> bool:
    """Whether a process lives through it; one that says what is wrong, or is asked to end, does."""
    trial = multiprocessing.get_context("spawn").Process(target=_try, args=(rehearse, list(requests)), daemon=True)
    trial.start()
    trial.join(TRIAL_SECONDS)
    if trial.is_alive():
        trial.kill()
        trial.join()
    return trial.exitcode is not None and (trial.exitcode >= 0 or trial.exitcode in ASKED_TO_END)


def _try(rehearse: Rehearse, requests: list[bytes]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    rehearse(requests)


def _end_with_parent() -> None:
    """Outlive no analyst that is killed: its standard output, which is this process's too, tells that it has ended."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)
