"""What the emit worker is fed with: rows to send, and durable progress through them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

SpanKey = tuple[bytes, bytes]
"""(trace_id, span_id), 16 and 8 bytes."""

R = TypeVar("R")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class MemoryNumbers:
    """What a memory span leaves with when it is enriched; the names are those of the view memory_versions."""

    effective_confidence: float
    confidence_flag: str
    chain_depth: int
    chain_min_confidence: float | None
    weakest_id: str


@dataclass(frozen=True, slots=True)
class ForwardRow:
    """A queue row that the analyst is done with; `own` are the spans in it that weaklink issued itself.

    `numbers` has the spans to enrich: those of this row, and maybe of others.
    """

    offset: int
    requests: Sequence[bytes]  # ExportTraceServiceRequest, serialized
    own: frozenset[SpanKey] = frozenset()
    numbers: Mapping[SpanKey, MemoryNumbers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An evaluator span (serialized) that waits to be sent, and the service it judges ('' for none)."""

    seq: int
    span: bytes
    service_name: str
    environment: str


@dataclass(frozen=True, slots=True)
class Parcel:
    """Requests that are settled together: when each is answered, progress moves to `last`."""

    last: int
    requests: tuple[bytes, ...]
    units: int = 1  # what one of its requests counts for: a forwarded request 1, evaluations their number
    evaluations: bool = False


def _nothing() -> int:
    return 0


def _uncounted(_: int) -> None:
    return


def _unheard(_request: bytes, _unknown: Collection[int]) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Feed(Generic[R]):
    """A source in a few functions, called on the lane's thread only.

    read(after) returns the next rows past `after` in ascending order, as many as fit in memory, none
    when there are none yet; progress() the last offset settled in this or an earlier life, 0 at first;
    advance(offset) makes that durable before it returns. overflow() is the last offset that there is no
    more room for: what is not sent up to there is passed over, and passed_over(units) keeps count of it.
    answered(request, unknown) comes before the progress beyond a request that is settled, and says which of its
    evaluations, by their places, the destination does not know the target of; it returns how many of them are
    given up. An exception is logged and the call repeated.
    """

    read: Callable[[int], Sequence[R]]
    progress: Callable[[], int]
    advance: Callable[[int], None]
    overflow: Callable[[], int] = _nothing
    passed_over: Callable[[int], None] = _uncounted
    answered: Callable[[bytes, Collection[int]], int] = _unheard

    def map(self, pack: Callable[[Sequence[R]], Sequence[S]]) -> "Feed[S]":
        """Return this feed with its rows packed into something else."""
        return Feed(
            lambda after: pack(self.read(after)),
            self.progress,
            self.advance,
            self.overflow,
            self.passed_over,
            self.answered,
        )
