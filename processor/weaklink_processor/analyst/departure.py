"""Parts leave the lake by its retention; what was known only for the sake of their spans is forgotten with them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta

import structlog

from weaklink_analysis.engine import Engine
from weaklink_processor.analyst.state import State
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.parts import Part
from weaklink_processor.lake.retention import Retention, pointless, too_much, too_old

log = structlog.get_logger(__name__)

WARNING_PAUSE = timedelta(hours=1)

LOOP_TIME = timedelta(days=1)
"""How long others may hold an EVALUATOR span, in queues of their own, before it comes back."""


class Departure:
    """Applies a retention to the parts that count."""

    def __init__(
        self, state: State, engine: Engine, lake: Lake, retention: Retention, count: Callable[[str, int], None]
    ) -> None:
        """`count` hears how many spans left, and why: "age" or "size"."""
        self._state, self._engine, self._lake = state, engine, lake
        self._retention, self._count = retention, count
        self._warn_at: datetime | None = None
        self._issued_since: datetime | None = None
        """Of EVALUATOR spans that were made before, nothing is left to forget, unless they had to wait."""

    def apply(self, now: datetime) -> bool:
        """Within a transaction, while no merge is under way: let go what is to leave; whether anything did."""
        parts = self._state.parts()
        old = too_old(parts, self._retention, now)
        left = _without(parts, old)
        much = too_much(left, self._retention)
        left = _without(left, much)
        if not old and not much:
            self._warn(left, now)
            return False
        self._state.supersede([*old, *much, *pointless(left)], now)
        # Traces of today may go on, also if some of their spans had to leave.
        self._forget_before([*left, *(part for part in much if part.day >= now.date())])
        self._forget_issued(left, now)
        self._tell("age", old)
        self._tell("size", much)
        return True

    def _forget_before(self, parts: Sequence[Part]) -> None:
        first = self._lake.first_row_id([part for part in parts if part.table == "spans"])
        if first is not None:
            self._engine.forget_spans(first)

    def _forget_issued(self, left: Sequence[Part], now: datetime) -> None:
        """Know own spans that come back for as long as spans of that time are kept, and a while longer."""
        oldest = min((part.day for part in left if part.table == "spans" and part.rows), default=now.date())
        since = datetime.combine(oldest, time.min, UTC) - LOOP_TIME
        if self._issued_since is None or since > self._issued_since:
            self._state.forget_issued(since)
            self._issued_since = since

    def _tell(self, reason: str, parts: Sequence[Part]) -> None:
        if not parts:
            return
        spans = sum(part.rows for part in parts if part.table == "spans")
        days = sorted({part.day.isoformat() for part in parts})
        size = sum(part.bytes for part in parts)
        log.warning("spans left the lake", reason=reason, spans=spans, bytes=size, first_day=days[0], last_day=days[-1])
        self._count(reason, spans)

    def _warn(self, parts: Sequence[Part], now: datetime) -> None:
        """Say that the rest is larger than it may be."""
        size, most = sum(part.bytes for part in parts), self._retention.max_bytes
        if most is None or size <= most or (self._warn_at and now < self._warn_at):
            return
        log.error("the lake is larger than lake.max_bytes, and no spans are left to go", bytes=size, max_bytes=most)
        self._warn_at = now + WARNING_PAUSE


def _without(parts: Sequence[Part], gone: Sequence[Part]) -> list[Part]:
    paths = {part.path for part in gone}
    return [part for part in parts if part.path not in paths]
