"""What leaves the lake: spans and revisions of evaluations that are too old, and the oldest spans of a lake too large.

What is known of memory stays whatever its age, since newer memories stand on it. Parts are dropped whole.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from weaklink_processor.lake.parts import Part
from weaklink_processor.lake.reading import TOMBSTONES

AGING = ("spans", "evaluation_history")
"""The tables whose rows are kept for a time: nothing that is computed later depends on them."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept; None: no bound."""

    age: timedelta | None = None
    max_bytes: int | None = None


FOR_EVER = Retention()


def too_old(parts: Sequence[Part], retention: Retention, now: datetime) -> list[Part]:
    """The parts of days that ended longer ago than the retention time."""
    if retention.age is None:
        return []
    oldest_kept = (now - retention.age).date()
    return [part for part in _aging(parts) if part.day < oldest_kept]


def too_much(parts: Sequence[Part], retention: Retention) -> list[Part]:
    """The oldest parts of spans: as many as it takes to bring all parts below the bound, if that can be."""
    spans = sorted((part for part in _aging(parts) if part.table == "spans"), key=lambda part: (part.day, part.seq))
    excess = sum(part.bytes for part in parts) - (retention.max_bytes or float("inf"))
    before = accumulate((part.bytes for part in spans), initial=0)
    return [part for part, dropped in zip(spans, before, strict=False) if dropped < excess]


def pointless(parts: Sequence[Part]) -> list[Part]:
    """The parts of row ids of superseded spans that are older than every span, and so are about none of them."""
    oldest = min((part.day for part in _aging(parts) if part.table == "spans"), default=None)
    return [part for part in parts if part.table == TOMBSTONES and (oldest is None or part.day < oldest)]


def _aging(parts: Iterable[Part]) -> Iterable[Part]:
    """Parts that can go; not an empty one, which says which columns the table has."""
    return (part for part in parts if part.table in AGING and part.rows)
