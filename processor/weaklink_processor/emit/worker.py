"""The threads that serve one destination: one for queue rows to forward, one for evaluations of the outbox.

Each has its own durable progress, which moves only past what was answered for good: a row or an evaluation
is sent exactly once, and at least once if the process dies or is stopped amid sending it.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from weaklink_processor.emit.exporter import Interrupted, OtlpExporter
from weaklink_processor.emit.feed import Feed, ForwardRow, OutboxRow, Parcel
from weaklink_processor.emit.lane import Lane
from weaklink_processor.emit.pack import forward_parcels, outbox_parcels
from weaklink_processor.metrics import Tally

_CLOSING_SECONDS = 0.2  # of the drain time, for calls in flight to be cancelled

Tell: TypeAlias = Callable[[Feed[OutboxRow]], Feed[Parcel]]


def as_spans(outbox: Feed[OutboxRow], *, by_namespace: bool = False) -> Feed[Parcel]:
    """Tell evaluations as the EVALUATOR spans that they are."""
    return outbox.map(partial(outbox_parcels, by_namespace=by_namespace))


@dataclass(frozen=True, slots=True)
class EmitStats:
    """Counts since start; a destination without one of the feeds has 0 there."""

    requests: int  # taken by the destination
    evaluations: int  # taken
    passed_over: int  # requests and evaluations that there was no more room for
    failed: int  # requests dropped for good
    retried: int  # attempts put off
    rejected_spans: int
    away: bool  # the destination does not answer; requests wait


class EmitWorker:
    """Owns the exporter: stopping the worker closes it."""

    def __init__(
        self,
        exporter: OtlpExporter,
        forward: Feed[ForwardRow] | None,
        outbox: Feed[OutboxRow] | None,
        *,
        window: int = 8,
        poll_seconds: float = 1.0,
        tally: Tally | None = None,
        tell: Tell = as_spans,
    ) -> None:
        """`window`: how many requests of each feed may be in flight. `tell`: how evaluations become requests."""
        feeds: dict[str, Feed[Parcel]] = {}
        if forward:
            feeds["forward"] = forward.map(forward_parcels)
        if outbox:
            feeds["outbox"] = tell(outbox)
        self._exporter = exporter
        tally = tally or Tally()
        self._runners = {
            name: _Runner(name, feed, exporter, window=window, poll_seconds=poll_seconds, tally=tally)
            for name, feed in feeds.items()
        }

    def start(self) -> None:
        """Begin where the durable progress says."""
        for runner in self._runners.values():
            runner.thread.start()

    def wake(self) -> None:
        """Say that there may be new rows: they are read at once instead of at the next poll."""
        for runner in self._runners.values():
            runner.woken.set()

    def stop(self, drain_seconds: float) -> None:
        """Send what can be sent until then, then hang up; a request that waits for a retry is left for the next start.

        Without a start, or a second time, it does nothing.
        """
        for runner in self._runners.values():
            runner.stopping.set()
        self._exporter.stop()
        self.wake()
        self._join(max(0.0, drain_seconds - _CLOSING_SECONDS))
        self._exporter.close()
        self._join(_CLOSING_SECONDS)

    def stats(self) -> EmitStats:
        """Return the counts so far."""
        export = self._exporter.stats()
        delivered = {name: runner.lane.delivered for name, runner in self._runners.items()}
        return EmitStats(
            requests=delivered.get("forward", 0),
            evaluations=delivered.get("outbox", 0),
            passed_over=sum(runner.lane.passed_over for runner in self._runners.values()),
            failed=export.failed,
            retried=export.retried,
            rejected_spans=export.rejected_spans,
            away=export.away,
        )

    def _join(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for thread in self._alive():
            thread.join(max(0.0, deadline - time.monotonic()))

    def _alive(self) -> Iterator[threading.Thread]:
        return (runner.thread for runner in self._runners.values() if runner.thread.is_alive())


class _Runner:
    """A lane and its threads: the one that reads and settles, and those that wait for answers."""

    def __init__(
        self,
        name: str,
        feed: Feed[Parcel],
        exporter: OtlpExporter,
        *,
        window: int,
        poll_seconds: float,
        tally: Tally,
    ) -> None:
        title = f"{name}-{exporter.name}"
        self._poll_seconds = poll_seconds
        self._pool = ThreadPoolExecutor(window, thread_name_prefix=f"export-{title}")
        self.lane = Lane(name, feed, exporter, self._pool, tally)
        self.woken, self.stopping = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._run, name=f"emit-{title}", daemon=True)

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except Interrupted:
            pass
        finally:
            self._pool.shutdown(cancel_futures=True)

    def _turn(self) -> bool:
        """Give the lane a step and, when it had nothing, sleep; return whether to go on."""
        self.woken.clear()
        last = self.stopping.is_set()  # asked before reading: what was there at the stop is still read
        if self.lane.step():
            return True
        if not last:
            self.woken.wait(self._poll_seconds)
        return not last
