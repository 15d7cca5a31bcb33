"""Annotations of what a destination does not know yet wait aside, for a time, while others go on."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter

import structlog

from weaklink_processor.emit.annotation import Annotation, annotation, annotation_request
from weaklink_processor.emit.chunks import chunks
from weaklink_processor.emit.feed import Feed, OutboxRow, Parcel

MAX_ANNOTATIONS = 100
MAX_BYTES = 512 * 1024  # half of what a proxy often takes
MOST_WAITING = 20_000
"""Some 2 KiB each; with more, those that wait longest are given up."""


@dataclass(frozen=True, slots=True)
class Patience:
    """When an annotation is tried again whose target was unknown, and for how long."""

    first_seconds: float = 5.0
    longest_seconds: float = 30.0
    multiplier: float = 1.5
    total_seconds: float = 300.0
    most_waiting: int = MOST_WAITING
    clock: Callable[[], float] = time.monotonic


def as_annotations(name: str, patience: Patience, outbox: Feed[OutboxRow]) -> Feed[Parcel]:
    """Tell evaluations as Phoenix's annotations, to the destination of this name."""
    room = WaitingRoom(name, patience, outbox)
    return Feed(room.read, outbox.progress, room.advance, outbox.overflow, outbox.passed_over, room.answered)


@dataclass(slots=True)
class _Open:
    """What is read, and not answered for good."""

    annotation: Annotation
    since: float | None = None  # it is unknown; None: it was not sent yet
    pause: float = 0.0
    due: float = 0.0


class WaitingRoom:
    """Reads the outbox, and again what has waited long enough; durable progress never passes what still waits.

    Of several revisions the newest is told, so that none overtakes another.
    """

    def __init__(self, name: str, patience: Patience, outbox: Feed[OutboxRow]) -> None:
        self._patience, self._outbox = patience, outbox
        self._open: dict[tuple[str, ...], _Open] = {}  # by key, those that wait longest first
        self._sent: dict[bytes, Sequence[Annotation]] = {}
        self._read_up_to = 0
        self._log = structlog.get_logger().bind(destination=name)

    def read(self, after: int) -> list[Parcel]:
        """Return what is due of what waits, and what has come since."""
        self._let_go()
        fresh = [annotation(row) for row in self._outbox.read(after)]
        for each in fresh:
            self._open.pop(each.key, None)
        now = self._patience.clock()
        due = [each.annotation for each in self._open.values() if each.due <= now]
        self._open |= {each.key: _Open(each) for each in fresh}
        self._read_up_to = max(after, fresh[-1].seq if fresh else 0)
        newest = [each for each in fresh if self._open[each.key].annotation is each]
        self._sent.clear()
        again = [self._parcel(batch, after) for batch in _batches(due)]
        return again + sorted((self._parcel(each, each[-1].seq) for each in _batches(newest)), key=attrgetter("last"))

    def answered(self, request: bytes, unknown: Collection[int]) -> int:
        """Keep those at the unknown places, let go of the others; return how many are given up."""
        given_up = []
        for place, each in enumerate(self._sent.pop(request, ())):
            if place not in unknown:
                self._open.pop(each.key, None)
            elif each.key in self._open and not self._put_off(self._open[each.key]):
                del self._open[each.key]
                given_up.append(each)
        waiting = [each.annotation for each in self._open.values() if each.since is not None]
        for each in islice(waiting, max(0, len(waiting) - self._patience.most_waiting)):
            del self._open[each.key]
            given_up.append(each)
        if given_up:
            self._log.warning("annotations_given_up", number=len(given_up), targets=sorted(_targets(given_up)))
        return len(given_up)

    def advance(self, _: int = 0) -> None:
        """Make durable what is settled, however far the parcel reached."""
        first = min((each.annotation.seq for each in self._open.values()), default=self._read_up_to + 1)
        if first - 1 > self._outbox.progress():
            self._outbox.advance(first - 1)

    def _put_off(self, waiting: _Open) -> bool:
        """Have it wait; return whether there is time left for that."""
        patience, now = self._patience, self._patience.clock()
        if waiting.since is None:
            waiting.since, waiting.pause = now, patience.first_seconds
        waiting.due = now + waiting.pause
        waiting.pause = min(patience.longest_seconds, waiting.pause * patience.multiplier)
        return now - waiting.since < patience.total_seconds

    def _let_go(self) -> None:
        """Pass over what waits and there is no more room for."""
        overflow = self._outbox.overflow() if self._open else 0
        gone = [key for key, each in self._open.items() if each.annotation.seq <= overflow]
        if gone:
            for key in gone:
                del self._open[key]
            self._outbox.passed_over(len(gone))
            self.advance()

    def _parcel(self, batch: Sequence[Annotation], last: int) -> Parcel:
        request = annotation_request(batch)
        self._sent[request] = batch
        return Parcel(last, (request,), len(batch), evaluations=True)


def _batches(annotations: Iterable[Annotation]) -> Iterator[list[Annotation]]:
    """Split into lists of one kind; sessions alone, as the id of one may lie within that of another."""
    for kind, group in groupby(sorted(annotations, key=attrgetter("kind", "seq")), attrgetter("kind")):
        most = 1 if kind == "session_id" else MAX_ANNOTATIONS
        yield from chunks(group, most, MAX_BYTES, lambda each: len(each.content))


def _targets(annotations: Iterable[Annotation]) -> set[str]:
    return {f"{each.kind} {each.target}" for each in annotations}
