"""The thread that serves one destination: queue rows forwarded, evaluations sent from the outbox.

Each has its own durable progress, which moves only past what was answered for good: a row or an evaluation
is sent exactly once, and at least once if the process dies or is stopped amid sending it.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from weaklink_processor.emit.exporter import Interrupted, OtlpExporter
from weaklink_processor.emit.feed import Feed, ForwardRow, OutboxRow
from weaklink_processor.emit.lane import Lane
from weaklink_processor.emit.pack import forward_parcels, outbox_parcels
from weaklink_processor.metrics import Tally

_CLOSING_SECONDS = 0.2  # of the drain time, for calls in flight to be cancelled


@dataclass(frozen=True, slots=True)
class EmitStats:
    """Counts since start: requests and evaluations taken, requests dropped, attempts put off, spans refused."""

    requests: int
    evaluations: int
    failed: int
    retried: int
    rejected_spans: int
    away: bool  # the destination does not answer; requests wait


class EmitWorker:
    """Owns the exporter: stopping the worker closes it."""

    def __init__(
        self,
        exporter: OtlpExporter,
        forward: Feed[ForwardRow],
        outbox: Feed[OutboxRow],
        *,
        window: int = 8,
        poll_seconds: float = 1.0,
        tally: Tally | None = None,
    ) -> None:
        self._exporter = exporter
        tally = tally or Tally()
        self._poll_seconds = poll_seconds
        self._pool = ThreadPoolExecutor(window, thread_name_prefix=f"export-{exporter.target}")
        self._forward = Lane("forward", forward.map(forward_parcels), exporter, self._pool, tally)
        self._outbox = Lane("outbox", outbox.map(outbox_parcels), exporter, self._pool, tally)
        self._woken, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"emit-{exporter.target}", daemon=True)

    def start(self) -> None:
        """Begin where the durable progress says."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there may be new rows: they are read at once instead of at the next poll."""
        self._woken.set()

    def stop(self, drain_seconds: float) -> None:
        """Send what can be sent until then, then hang up; a request that waits for a retry is left for the next start.

        Without a start, or a second time, it does nothing.
        """
        self._stopping.set()
        self._exporter.stop()
        self._woken.set()
        self._join(max(0.0, drain_seconds - _CLOSING_SECONDS))
        self._exporter.close()
        self._join(_CLOSING_SECONDS)

    def stats(self) -> EmitStats:
        """Return the counts so far."""
        export = self._exporter.stats()
        return EmitStats(
            requests=self._forward.delivered,
            evaluations=self._outbox.delivered,
            failed=export.failed,
            retried=export.retried,
            rejected_spans=export.rejected_spans,
            away=export.away,
        )

    def _join(self, seconds: float) -> None:
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except Interrupted:
            pass
        finally:
            self._pool.shutdown(cancel_futures=True)

    def _turn(self) -> bool:
        """Give each lane a step and, when neither had anything, sleep; return whether to go on."""
        self._woken.clear()
        last = self._stopping.is_set()  # asked before reading: what was there at the stop is still read
        found = [lane.step() for lane in (self._forward, self._outbox)]
        if any(found):
            return True
        if not last:
            self._woken.wait(self._poll_seconds)
        return not last
