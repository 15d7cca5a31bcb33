"""Requests of other processes to compact the lake: two numbers in the queue's file, asked for and done."""

from typing import Protocol

ASKED, DONE = "compact:asked", "compact:done"


class Marks(Protocol):
    """Where numbers are kept that other processes see."""

    def mark(self, name: str) -> int:
        """A number kept under `name`, 0 if there is none."""

    def set_mark(self, name: str, value: int) -> None:
        """Keep `value` under `name`, durably."""


class Compacting(Protocol):
    """What compacts."""

    def ask_to_compact(self) -> None:
        """Begin to."""

    @property
    def compacting(self) -> bool:
        """Whether it goes on."""


class CompactRequests:
    """The analyst's side: begins what is asked for, and says when it is done."""

    def __init__(self, marks: Marks, step: Compacting) -> None:
        self._marks, self._step = marks, step
        self._begun = marks.mark(DONE)
        self._done = self._begun

    def heed(self) -> None:
        """Look whether something was asked for, or is done."""
        asked = self._marks.mark(ASKED)
        if asked > self._begun:
            self._step.ask_to_compact()
            self._begun = asked
        elif self._begun > self._done and not self._step.compacting:
            self._marks.set_mark(DONE, self._begun)
            self._done = self._begun


def ask(marks: Marks) -> int:
    """Ask the analyst to compact; the number of the request."""
    number = marks.mark(ASKED) + 1
    marks.set_mark(ASKED, number)
    return number


def is_done(marks: Marks, number: int) -> bool:
    """Whether this request was met."""
    return marks.mark(DONE) >= number


def settle(marks: Marks) -> None:
    """Say that whatever was asked for is done."""
    marks.set_mark(DONE, marks.mark(ASKED))
