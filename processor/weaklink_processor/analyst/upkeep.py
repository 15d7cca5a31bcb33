"""Merging of the lake's parts, beside the steps: one merge at a time, whose result counts from a later commit on."""

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

    def __init__(self, state: State, lake: Lake) -> None:
        self._state, self._lake = state, lake
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="upkeep")
        self._running: tuple[Merge, Future[Part]] | None = None
        self._resume_at: datetime | None = None
        self._asked_upto = NOTHING_ASKED

    def begin(self, now: datetime, *, resting: bool) -> None:
        """Begin the merge that is due, if any, unless one is under way or failed a short while ago.

        `resting`: nothing waits to be analysed, so there is time for more.
        """
        if self._running or (self._resume_at and now < self._resume_at):
            return
        today = (now - DAY_END).date()
        if merge := self._lake.due(self._state.parts(), today, self._asked_upto, resting=resting):
            self._running = merge, self._pool.submit(self._lake.merge, merge)
        else:
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
        return self._running is None

    @property
    def done(self) -> bool:
        """Whether a merge waits to be adopted."""
        return self._running is not None and self._running[1].done()

    def adopt(self, now: datetime) -> bool:
        """Within a transaction: let the merged part count in place of its sources; whether there was one."""
        if self._running is None or not self.done:
            return False
        (merge, writing), self._running = self._running, None
        if error := writing.exception():
            log.error("parts could not be merged", table=merge.table, parts=len(merge.parts), exc_info=error)
            self._resume_at = now + PAUSE
            return False
        self._state.supersede(merge.parts, now)
        self._state.add_parts([writing.result()])
        return True

    def wait(self) -> bool:
        """Wait for the merge under way; whether there was one."""
        if self._running is None:
            return False
        self._running[1].exception()
        return True

    def close(self) -> None:
        """Stop; twice is fine."""
        self._pool.shutdown(cancel_futures=True)
