"""One feed on its way to one destination: several requests in flight, progress in order."""

from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import structlog

from weaklink_processor.emit.exporter import Interrupted, OtlpExporter
from weaklink_processor.emit.feed import Feed, Parcel
from weaklink_processor.emit.outage import Outage
from weaklink_processor.metrics import FAILED_SPANS, SENT_SPANS, Tally
from weaklink_processor.span_count import span_count


@dataclass(frozen=True, slots=True)
class _Flight:
    parcel: Parcel
    answers: list[Future[bool]]


class Lane:
    """Sends a feed's parcels; not for several threads."""

    def __init__(self, name: str, feed: Feed[Parcel], exporter: OtlpExporter, pool: Executor, tally: Tally) -> None:
        self._feed = feed
        self._exporter = exporter
        self._pool = pool
        self._tally = tally
        self._outage = Outage(structlog.get_logger().bind(destination=exporter.target, feed=name), "feed")
        self._after: int | None = None  # the last parcel launched; None: progress is still to be asked for
        self._flights: deque[_Flight] = deque()
        self.delivered = 0  # units that the destination took

    def step(self) -> bool:
        """Read once, send all of it and settle it; return whether there was anything.

        A fault of the feed is logged, and the next step goes on where this one failed: nothing is sent twice.

        Raises:
            Interrupted: the exporter was stopped.
        """
        try:
            found = self._carry()
        except Interrupted:
            raise
        except Exception as error:  # noqa: BLE001  a feed's fault, of whatever kind, must not end the worker's thread
            self._outage.begin(error=repr(error))
            return False
        self._outage.end()
        return found

    def _carry(self) -> bool:
        if not self._flights:
            self._launch()
        found = bool(self._flights)
        while self._flights:
            self._settle(self._flights[0])
            self._flights.popleft()
        return found

    def _launch(self) -> None:
        if self._after is None:
            self._after = self._feed.progress()
        for parcel in self._feed.read(self._after):
            answers = [self._pool.submit(self._exporter.export, request) for request in parcel.requests]
            self._flights.append(_Flight(parcel, answers))
            self._after = parcel.last

    def _settle(self, flight: _Flight) -> None:
        answers = [answer.result() for answer in flight.answers]
        self._feed.advance(flight.parcel.last)
        self.delivered += sum(answers) * flight.parcel.units
        for taken, request in zip(answers, flight.parcel.requests, strict=True):
            counter = SENT_SPANS if taken else FAILED_SPANS
            self._tally.add(counter, span_count(request), exporter=self._exporter.target)
