"""Evaluations that wait for a destination: they lie beside the queue, and only its analyst can count them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weaklink_processor.queue.store import QueueStore


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What waits. `mark` is under what the queue keeps the last one that is settled, `newest` the last one of these."""

    mark: str
    newest: int = 0
    evaluations: int = 0
    bytes: int = 0
    since: float | None = None  # when the oldest was made, in seconds since 1970

    def seconds(self, now: datetime) -> float:
        """How long the oldest has waited."""
        return max(now.timestamp() - self.since, 0.0) if self.evaluations and self.since is not None else 0.0


def still_outgoing(queue: "QueueStore", told: Mapping[str, Mapping[str, Any]]) -> dict[str, Outgoing]:
    """Return by consumer what the analyst last told, or that nothing waits, where all of it is settled by now."""
    found = {name: Outgoing(**one) for name, one in told.items()}
    return {name: Outgoing(one.mark) if queue.mark(one.mark) >= one.newest else one for name, one in found.items()}
