"""All destinations together: who waits for what in queue and outbox, and what every one of them has."""

import sys
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import structlog

from weaklink_processor.analyst.feeds import NumbersOf, forward_feed, no_numbers, outbox_feed, outgoing_counter
from weaklink_processor.analyst.following import Following
from weaklink_processor.analyst.state import State
from weaklink_processor.analyst.step import Sent
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.emit.worker import EmitWorker, Tell, as_spans
from weaklink_processor.metrics import Tally
from weaklink_processor.queue.store import QueueStore

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Destination:
    """What goes to one destination, and what happens when it does not take it."""

    exporter: OtlpExporter
    spans: bool = True  # the original requests
    numbers_of: NumbersOf = no_numbers  # what memory spans in them are enriched with
    scopes: Collection[str] = ()  # whose evaluations
    tell: Tell = as_spans  # how evaluations are told
    follows: Collection[str] = ()
    """Consumers of the queue that bring it the original spans, which it needs before it is told of them."""
    max_bytes: int | None = None
    """How much of each may wait before the oldest is passed over; None: what waits holds up senders."""

    @property
    def name(self) -> str:
        """What its progress is kept under, among the queue's consumers and marks."""
        return f"forward:{self.exporter.name}"

    @property
    def evaluations(self) -> str:
        """What evaluations for it are told under; and what they hold the queue under, where they do."""
        return f"evaluations:{self.exporter.name}"

    def feeds(self) -> list[str]:
        """What it is told as: for requests, for evaluations, or for both."""
        return [self.name] * self.spans + [self.evaluations] * bool(self.scopes)

    def consumers(self) -> list[str]:
        """The consumers of the queue that it is; evaluations that are passed over hold up no row of it."""
        return [name for name in self.feeds() if name == self.name or self.max_bytes is None]

    def worker(self, queue: QueueStore, state: State, tally: Tally | None) -> EmitWorker:
        """Return its threads, not started."""
        forward = forward_feed(queue, state, self.name, self.numbers_of, self.max_bytes)
        outbox = outbox_feed(
            queue,
            state,
            self.name,
            self.scopes,
            consumer=self.evaluations,
            max_bytes=self.max_bytes,
            until=Following(queue, state, self.follows).newest,
        )
        feeds = forward if self.spans else None, outbox if self.scopes else None
        return EmitWorker(self.exporter, *feeds, tally=tally, tell=self.tell)


class Outbox:
    """The destinations at work."""

    def __init__(
        self,
        queue: QueueStore,
        state: State,
        destinations: Iterable[Destination],
        others: Iterable[str] = (),
        tally: Tally | None = None,
    ) -> None:
        """Let queue rows wait for the destinations and the `others`, and for nobody else."""
        self._queue, self._destinations = queue, tuple(destinations)
        wanted = [name for each in self._destinations for name in each.consumers()]
        for name in wanted:
            queue.register(name)
        # Only now, so that what waited for these waits for the new ones.
        for name in set(queue.stats().consumers) - {*wanted, *others}:
            if rows := queue.backlog(name).rows:
                log.warning("what waited for a destination that is not configured is let go", consumer=name, rows=rows)
            queue.forget(name)
        # Evaluations that are passed over rather than held are no consumer.
        for name in queue.passed_over().keys() - {name for each in self._destinations for name in each.feeds()}:
            queue.forget(name)
        self._settle_no_more_than(state.last_issued())
        self._workers = [each.worker(queue, state, tally) for each in self._destinations]
        self._counters = {
            each.evaluations: outgoing_counter(queue, state, each.name, each.scopes)
            for each in self._destinations
            if each.scopes
        }

    def _settle_no_more_than(self, last: int) -> None:
        """Take marks back that are beyond the last evaluation: of a state that was begun anew, or of an older one.

        They would stand for evaluations that are still to be made, and those would not be sent.
        """
        for each in self._destinations:
            if self._queue.mark(each.name) > last:
                self._queue.set_mark(each.name, last)

    @property
    def scopes(self) -> set[str]:
        """Whose evaluations go to any destination."""
        return {scope for each in self._destinations for scope in each.scopes}

    def sent(self) -> Sent:
        """Return what every destination has: beyond what there is, where there is no destination for it."""
        marks = [self._queue.mark(each.name) for each in self._destinations if each.scopes]
        offsets = [self._queue.progress(name) for each in self._destinations for name in each.consumers()]
        return Sent(min(marks, default=sys.maxsize), min(offsets, default=sys.maxsize))

    def away(self) -> dict[str, bool]:
        """Return by what destinations are told as whether they give no answers."""
        served = zip(self._destinations, self._workers, strict=True)
        return {name: worker.stats().away for each, worker in served for name in each.feeds()}

    def waiting(self) -> dict[str, dict[str, object]]:
        """Return by what evaluations are told as how many of them wait, as Outgoing has it; for one thread."""
        return {name: asdict(count()) for name, count in self._counters.items()}

    def start(self) -> None:
        """Begin to send."""
        for worker in self._workers:
            worker.start()

    def wake(self) -> None:
        """Say that there may be more to send."""
        for worker in self._workers:
            worker.wake()

    def stop(self, drain_seconds: float) -> None:
        """Send what can be sent until then, and end; without a start, or a second time, it does nothing."""
        if self._workers:
            with ThreadPoolExecutor(len(self._workers)) as pool:
                list(pool.map(lambda worker: worker.stop(drain_seconds), self._workers))
