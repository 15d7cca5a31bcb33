"""Where the processes of a service report to: errors to the journal, numbers to the board if anybody reads those."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from weaklink_processor.errors import WeaklinkError
from weaklink_processor.metrics import ACCEPTED_BYTES, ACCEPTED_SPANS, ANALYSED_BYTES, ANALYSED_SPANS, ERRORS, Reading
from weaklink_processor.telemetry.journal import Journal

if TYPE_CHECKING:
    from weaklink_processor.telemetry.board import Board

SUPERVISOR = "serve"
_USUAL_SPAN_BYTES = 800.0  # before any has come


class Station:
    """The supervisor's ear; any thread may speak."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._totals: Counter[str] = Counter()
        self.board: Board | None = None  # nobody reads metrics
        self.metrics_url: str | None = None
        self.pids = {SUPERVISOR: os.getpid()}

    def hear(self, process: str, message: Mapping[str, Any]) -> None:
        """Take a message of a child, whatever is in it; `pid` says that it is a new one."""
        if "pid" in message:
            self.pids[process] = message["pid"]
        if "error" in message:
            self.error(message["error"], process)
        if "destinations" in message:
            self._journal.destinations(message["destinations"])
        if "waiting" in message:
            self._journal.waiting = message["waiting"]
        for name, _, number in message.get("counts", ()):
            self._totals[name] += number
        if self.board:
            self.board.hear(message)

    def error(self, text: str, process: str = SUPERVISOR) -> None:
        """Note an error of the log."""
        self._journal.error(process, text)
        if self.board:
            self.board.count(ERRORS, process=process)

    def waiting(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what the analyst last told of evaluations that wait."""
        return self._journal.waiting

    def bytes_per_span(self) -> float:
        """What a span took lately, uncompressed; as usual while none has come."""
        spans = self._totals[ANALYSED_SPANS.name] + self._totals[ACCEPTED_SPANS.name]
        size = self._totals[ANALYSED_BYTES.name] + self._totals[ACCEPTED_BYTES.name]
        return size / spans if spans and size else _USUAL_SPAN_BYTES


def together(*sources: Callable[[], Iterable[Reading]]) -> Callable[[], Iterator[Reading]]:
    """Return one source for several; what cannot be read now is left out."""

    def readings() -> Iterator[Reading]:
        for source in sources:
            with suppress(WeaklinkError):
                yield from source()

    return readings
