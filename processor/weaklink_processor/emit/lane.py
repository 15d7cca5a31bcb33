"""One feed on its way to one destination: several requests in flight, progress in order."""

import threading
from collections import deque
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field

import structlog

from weaklink_processor.emit.exporter import Interrupted, OtlpExporter, Unwanted
from weaklink_processor.emit.feed import Feed, Parcel
from weaklink_processor.emit.outage import Outage, Throttle
from weaklink_processor.emit.transport import Response
from weaklink_processor.metrics import FAILED_SPANS, SENT_SPANS, Instrument, Tally
from weaklink_processor.span_count import span_count

_LOOK_SECONDS = 1.0  # between two looks at whether there is still room for what waits for its answers


@dataclass(frozen=True, slots=True)
class _Flight:
    parcel: Parcel
    unwanted: threading.Event = field(default_factory=threading.Event)  # what is not sent yet is passed over
    answers: list[Future[Response | None]] = field(default_factory=list)


class Lane:
    """Sends a feed's parcels; not for several threads."""

    def __init__(self, name: str, feed: Feed[Parcel], exporter: OtlpExporter, pool: Executor, tally: Tally) -> None:
        self.name = name
        self._feed = feed
        self._exporter = exporter
        self._pool = pool
        self._tally = tally
        self._log = structlog.get_logger().bind(destination=exporter.name, feed=name)
        self._outage = Outage(self._log, "feed")
        self._passing_lines = Throttle()
        self._after: int | None = None  # the last parcel launched; None: progress is still to be asked for
        self._flights: deque[_Flight] = deque()
        self.delivered = 0  # units that the destination took
        self.passed_over = 0  # units that there was no more room for

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
        except Exception as error:  # noqa: BLE001  a feed's fault, of whatever kind, must not end the lane's thread
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
        parcels = self._feed.read(self._after)
        flights = [_Flight(parcel) for parcel in parcels]
        if flights:
            self._give_up(flights)
        for flight in flights:
            flight.answers.extend(
                self._pool.submit(self._exporter.export, request, flight.unwanted) for request in flight.parcel.requests
            )
            self._flights.append(flight)
            self._after = flight.parcel.last

    def _give_up(self, flights: "list[_Flight] | deque[_Flight]") -> None:
        """Let go of what there is no more room for."""
        overflow = self._feed.overflow()
        for flight in flights:
            if flight.parcel.last <= overflow:
                flight.unwanted.set()

    def _settle(self, flight: _Flight) -> None:
        while wait(flight.answers, _LOOK_SECONDS).not_done:
            self._give_up(self._flights)
        parcel, outcomes = flight.parcel, [_outcome(answer) for answer in flight.answers]
        for request, outcome in zip(parcel.requests, outcomes, strict=True):
            self._count(FAILED_SPANS, self._feed.answered(request, _unknown(outcome)))
        self._feed.advance(parcel.last)
        passed = sum(isinstance(outcome, Unwanted) for outcome in outcomes) * parcel.units
        if passed:
            self._pass_over(passed)
        for request, outcome in zip(parcel.requests, outcomes, strict=True):
            if isinstance(outcome, Unwanted):
                continue
            spans = parcel.units if parcel.evaluations else span_count(request)
            if outcome is None:
                self._count(FAILED_SPANS, spans)
            else:
                refused = min(max(outcome.rejected, 0), spans)
                self.delivered += parcel.units - len(outcome.unknown)
                self._count(SENT_SPANS, spans - len(outcome.unknown) - refused)
                self._count(FAILED_SPANS, refused)

    def _count(self, counter: Instrument, number: int) -> None:
        if number:
            self._tally.add(counter, number, exporter=self._exporter.name)

    def _pass_over(self, units: int) -> None:
        self._feed.passed_over(units)
        self.passed_over += units
        if self._passing_lines.due():
            self._log.warning("passed_over", passed_over_so_far=self.passed_over)


def _outcome(answer: Future[Response | None]) -> Response | Unwanted | None:
    """Return what the destination said; None: it refused the request for good; Unwanted: that was passed over."""
    try:
        return answer.result()
    except Unwanted as passed_over:
        return passed_over


def _unknown(outcome: Response | Unwanted | None) -> tuple[int, ...]:
    return outcome.unknown if isinstance(outcome, Response) else ()
