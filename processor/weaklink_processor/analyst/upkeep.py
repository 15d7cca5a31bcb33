"""Merging of the lake's parts, beside the steps: a merge of each table, whose results count from a later commit on."""

from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

import structlog

from weaklink_processor.analyst.state import State
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.merging import Merge
from weaklink_processor.lake.parts import Part

log = structlog.get_logger(__name__)

PAUSE = timedelta(minutes=5)
"""How long nothing is merged after a merge that failed: readers can do without, and a full disk is full for a while."""


NOTHING_ASKED = -1
DAY_END = timedelta(hours=1)
"""How long after midnight (UTC) a day's rows are merged for good: what was still waiting in the queue is in by then."""


class Upkeep:
    """Keeps the lake in few parts. What an interrupted merge leaves is swept away at the next start."""

    def __init__(self, state: State, lake: Lake, *, merges_at_rest: bool = True) -> None:
        """`merges_at_rest`: false where the lake is read once, and what is merged in time to spare is wasted."""
        self._state, self._lake, self._merges_at_rest = state, lake, merges_at_rest
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="upkeep")
        self._running: list[tuple[Merge, Future[Part]]] = []
        self._resume_at: datetime | None = None
        self._asked_upto = NOTHING_ASKED

    def begin(self, now: datetime, *, resting: bool) -> None:
        """Begin the merges that are due, one after the other, unless some are under way or failed a short while ago.

        `resting`: nothing waits to be analysed, so there is time for more.
        """
        if self._running or (self._resume_at and now < self._resume_at):
            return
        today = (now - DAY_END).date()
        merges = self._lake.due(self._state.parts(), today, self._asked_upto, resting=resting and self._merges_at_rest)
        self._running = [(merge, self._pool.submit(self._lake.merge, merge)) for merge in merges]
        if not merges:
            self._asked_upto = NOTHING_ASKED

    def ask(self, upto: int) -> None:
        """Have parts of publications up to this one merged into as few as can be."""
        self._asked_upto = upto

    @property
    def asked(self) -> bool:
        """Whether what was asked for is not yet begun or not yet done."""
        return self._asked_upto != NOTHING_ASKED

    @property
    def idle(self) -> bool:
        """Whether no merge is under way, nor waits to be adopted."""
        return not self._running

    @property
    def done(self) -> bool:
        """Whether merges wait to be adopted."""
        return bool(self._running) and all(writing.done() for _, writing in self._running)

    def adopt(self, now: datetime) -> bool:
        """Within a transaction: let merged parts count in place of their sources; whether there were any."""
        if not self.done:
            return False
        finished, self._running = self._running, []
        adopted = False
        for merge, writing in finished:
            if error := writing.exception():
                log.error("parts could not be merged", table=merge.table, parts=len(merge.parts), exc_info=error)
                self._resume_at = now + PAUSE
                continue
            self._state.supersede(merge.parts, now)
            self._state.add_parts([writing.result()])
            adopted = True
        return adopted

    def wait(self) -> bool:
        """Wait for the merges under way; whether there were any."""
        for _, writing in self._running:
            writing.exception()
        return bool(self._running)

    def close(self) -> None:
        """Stop; twice is fine."""
        self._pool.shutdown(cancel_futures=True)
