"""Which part of a catalogue is looked at."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Selection:
    """What spans or evaluations are asked for; None, or nothing listed: all."""

    service: str | None = None
    environment: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    trace_ids: tuple[str, ...] = ()
    """Hex, in lower case."""
