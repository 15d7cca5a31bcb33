"""The analyst's loop: read what waits in the queue, apply it, release it; evaluate what time makes due."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import duckdb
import structlog

from weaklink_processor.analyst.ahead import Ahead, Fetched
from weaklink_processor.analyst.caution import Caution
from weaklink_processor.analyst.step import Done, Step
from weaklink_processor.analyst.watch import Watch
from weaklink_processor.errors import Overloaded
from weaklink_processor.queue.store import QueueStore, Row

log = structlog.get_logger(__name__)

BATCH_BYTES = 64_000_000
"""Uncompressed bytes of a step: about 78,000 spans. Every step has a fixed cost of some 0.2 s."""
TICK_SECONDS = 0.25
MACHINE_FAULTS = (
    OSError,
    MemoryError,
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.TransactionException,  # a commit that could not be written
    Overloaded,
)
"""Not the rows' fault: they stay where they are and are tried again."""
NOBODYS_FAULTS = (*MACHINE_FAULTS, duckdb.FatalException)
"""After the last the state has to be opened anew, by another process."""
DRAIN_SECONDS = 2.5
"""With the step under way and the sending that follows, less than the supervisor leaves."""
REST = 2
"""How much longer than steps of little readers have the machine to themselves between them."""


class Analyst:
    """Applies queue rows until told to stop."""

    def __init__(
        self,
        queue: QueueStore,
        ahead: Ahead,
        step: Step,
        caution: Caution,
        *,
        clock: Callable[[], datetime],
        publish_seconds: float,
        release: Callable[[int], None],
        on_progress: Callable[[], None],
        heed: Callable[[], None] = lambda: None,
        watch: Watch | None = None,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        """`release` lets go of queue rows up to an offset; `on_progress` hears of everything new to send.

        `heed` is called every turn, and looks at what other processes ask for.
        """
        self._queue, self._ahead, self._step, self._caution = queue, ahead, step, caution
        self._clock, self._publish_seconds = clock, publish_seconds
        self._release, self._on_progress, self._heed = release, on_progress, heed
        self._watch = watch or Watch()
        self._batch_bytes = batch_bytes
        self._alone_until = 0
        """Up to this offset rows are applied one by one, since together they failed."""
        self._judges = True
        """Whether what is due is judged in the step that applies rows: not while the traces let that fail."""
        self._few = True
        """Whether this turn's steps did hardly more than their fixed cost: what has become due since can wait."""
        self._released = 0
        self._behind: datetime | None = None
        """When the last row was received that is applied, while others wait behind it."""

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set; then apply what is left, as far as the drain time allows."""
        while not stop.is_set():
            started = time.monotonic()
            waiting = self._turn()
            worked = time.monotonic() - started
            if not waiting:
                stop.wait(max(self._publish_seconds - worked, REST * worked if self._few else 0))
        deadline = time.monotonic() + DRAIN_SECONDS
        try:
            while time.monotonic() < deadline and self._apply_next() is not None:
                pass
            self._settle()
            self._caution.rest()
        except Overloaded as error:
            log.warning("analyst cannot write", error=str(error))

    def drain(self) -> None:
        """Apply all that waits, and evaluate every trace without waiting for its quiet period."""
        while self._apply_next() is not None:
            self._on_progress()  # also where nothing could be written: whoever waits for that may give it up
        while self._step.due(self._clock(), timedelta(0)):
            self._step.tick(self._clock(), timedelta(0))
            self._on_progress()
        self._step.compact(self._clock())
        self._caution.rest()
        self._on_progress()

    def _turn(self) -> bool:
        """Do one step; whether there is more waiting than it took."""
        self._few = True
        try:
            self._heed()
            more = self._apply_next()
            if more is None:
                self._release_applied()
                self._caution.rest()
            judge_on = (more is None or self._pressing()) and self._evaluate_due()
        except Overloaded as error:  # the queue: it is on the same disk
            log.warning("analyst cannot write", error=str(error))
            return False
        return bool(more) or judge_on

    def _pressing(self) -> bool:
        return not self._few and self._step.due(self._arrivals())

    def _arrivals(self) -> datetime:
        """What has not arrived until then is not applied."""
        return self._behind or self._clock()

    def _evaluate_due(self) -> bool:
        """Evaluate and publish; whether there is more to evaluate at once."""
        now = self._arrivals()
        try:
            done = self._judged(now)
            self._few &= done.few
            self._watch.count(done)
            self._step.settle(self._clock())
            self._step.publish()
            if done.revisions:  # a verdict is in the tables before it is sent
                self._step.settle(self._clock())
        except MACHINE_FAULTS:
            log.exception("analyst cannot write")
            return False
        if done.revisions:
            self._on_progress()
        return self._judges and (self._step.due(now) or self._pressing())

    def _judged(self, now: datetime) -> Done:
        """Evaluate what is due; where that fails by what is in the traces, readers and senders go on without."""
        try:
            done = self._step.tick(now)
        except NOBODYS_FAULTS:
            raise
        except Exception:
            log.exception("what is due could not be judged")
            self._judges = False
            return Done(0, 0)
        self._judges = True
        return done

    def _apply_next(self) -> bool | None:
        """Apply the next rows; None when there are none, else whether there may be more."""
        fetched = self._ahead.fetched(self._step.offset)
        rows = fetched.rows if fetched else self._ahead.rows(self._step.offset)
        if not rows:
            self._behind = None
            return None
        full = sum(len(request) for row in rows for request in row.requests) >= self._batch_bytes
        chosen = list(self._caution.before(rows[:1] if rows[0].offset <= self._alone_until else rows))
        more = full or len(chosen) < len(rows)
        if chosen:
            if full and not self._caution.alert:
                self._ahead.start(chosen[-1].offset)
            self._behind = chosen[-1].received_at if more else None
            self._apply(fetched if fetched and chosen == rows else self._ahead.decoded(chosen), caught_up=not more)
        return more

    def _apply(self, fetched: Fetched, *, caught_up: bool) -> None:
        rows = fetched.rows
        self._few = False  # nor is a step that fails
        try:
            done = self._stepped(fetched, caught_up=caught_up)
        except MACHINE_FAULTS:
            log.exception("analyst cannot write", first_offset=rows[0].offset)
            time.sleep(TICK_SECONDS)
            return
        except NOBODYS_FAULTS:
            raise
        except Exception:
            log.exception("rows could not be applied", first_offset=rows[0].offset, rows=len(rows))
            self._set_apart(rows)
            return
        self._few = done.few
        self._caution.after()
        self._publish()
        self._release_applied()
        self._on_progress()
        log.debug("applied", offset=rows[-1].offset, spans=done.spans, revisions=done.revisions)

    def _stepped(self, fetched: Fetched, *, caught_up: bool) -> Done:
        """Do the step; once more without judging, where it fails with one row, whose fault that may not be."""
        judging = self._judges
        try:
            return self._watched(fetched, caught_up=caught_up, judging=judging)
        except NOBODYS_FAULTS:
            raise
        except Exception:
            if not judging or len(fetched.rows) > 1:
                raise
            log.exception("a row could not be applied along with what is due", offset=fetched.rows[0].offset)
        done = self._watched(fetched, caught_up=caught_up, judging=False)
        self._judges = False
        return done

    def _watched(self, fetched: Fetched, *, caught_up: bool, judging: bool) -> Done:
        with self._watch.step(fetched.rows) as told:
            done = self._step.apply(fetched.rows, fetched.batch(), self._clock(), caught_up=caught_up, judging=judging)
            told(done)
        return done

    def _release_applied(self) -> None:
        """Let go of rows that are applied, now or by a process that did not come to it."""
        if self._step.offset > self._released:
            self._release(self._step.offset)
            self._released = self._step.offset

    def _settle(self) -> None:
        try:
            self._step.settle(self._clock())
        except MACHINE_FAULTS:
            log.exception("readers do not see the newest spans yet")

    def _publish(self) -> None:
        try:
            self._step.settle(self._clock())
            self._step.publish()
        except MACHINE_FAULTS:
            log.exception("readers do not see the newest spans yet")

    def _set_apart(self, rows: list[Row]) -> None:
        """Apply rows that fail together one by one; set aside one that fails alone."""
        if len(rows) > 1:
            self._alone_until = rows[-1].offset
        else:
            self._queue.quarantine(rows[0].offset, "it cannot be analysed")
