"""What was recognised on the spans of a catalogue, what they lack, and which others look like memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import duckdb

from weaklink_analysis.doctor.gaps import GAPS, WITHOUT_SCORE, Gap
from weaklink_analysis.doctor.mend import Mend
from weaklink_analysis.doctor.mends import MEMORY_SPAN, mend
from weaklink_analysis.models import environment
from weaklink_analysis.selection import Selection

WORDS = "memor(y|ies)|mem0|remember|recall|retriev|vector|knowledge"
"""What makes a span's name or attribute look like memory, as a regular expression of RE2."""
OTHER_KEYS = (
    r"memory\.(decision|relied_on|confidence_policy|link)",
    *(r"weaklink\.", r"process\.", r"system\.", r"container\.", r"k8s\.", r"jvm\."),
)
"""Attributes that are of no memory operation for all that: weaklink's own of other spans, and memory of machines."""
MOST_NAMES = 5
MOST_KEYS = 8

_TEXTS = environment("doctor")
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Sender:
    """A service in an environment, and how many spans it sent."""

    service_name: str
    environment: str
    spans: int


@dataclass(frozen=True, slots=True)
class Present(Sender):
    """One that is there where none was selected, and when its spans began."""

    earliest: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class Recognised:
    """Memory operations of a kind, as a convention recognised them."""

    service_name: str
    environment: str
    convention: str
    operation: str
    spans: int
    records: int
    counted: int
    """Records that Tier 3 counts, and that are looked at for gaps."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A check that such a gap makes fail, and in how many of its traces it does."""

    check: str
    traces: int


@dataclass(frozen=True, slots=True)
class Lack:
    """What records of an operation lack, in a convention of a service."""

    place: int
    service_name: str
    environment: str
    convention: str
    operation: str
    gap: str
    total: int
    """Records that ought to carry it."""
    lacking: int
    known: int
    """Of these, what weaklink knows from elsewhere in the trace."""
    open: int
    """What is to be mended; 0: what is known is as good."""
    traces: int
    trace_id: str
    span_id: str
    failing: tuple[Failing, ...]

    @property
    def described(self) -> Gap:
        """What the gap is, and what it costs."""
        return GAPS[self.place]

    @property
    def mend(self) -> Mend:
        """What mends it."""
        return mend(self.gap, self.convention, self.operation)


@dataclass(frozen=True, slots=True)
class Hint:
    """Spans of one name that look like memory and were not recognised."""

    service_name: str
    environment: str
    name: str
    spans: int
    keys: tuple[str, ...]
    """Attributes that look so."""
    trace_id: str
    span_id: str

    @property
    def mend(self) -> Mend:
        """What makes them recognised."""
        return MEMORY_SPAN


@dataclass(frozen=True, slots=True)
class Coverage:
    """All of it."""

    senders: Sequence[Sender]
    recognised: Sequence[Recognised]
    lacks: Sequence[Lack]
    hints: Sequence[Hint]
    present: Sequence[Present]
    """What there is instead, where nothing was selected."""

    @property
    def gaps(self) -> list[Lack]:
        """What is to be mended."""
        return [lack for lack in self.lacks if lack.open]

    @property
    def unrecognised(self) -> list[Sender]:
        """Services with spans that look like memory of which none was recognised."""
        seen = {(row.service_name, row.environment) for row in self.recognised}
        hinted = {(hint.service_name, hint.environment) for hint in self.hints} - seen
        return [sender for sender in self.senders if (sender.service_name, sender.environment) in hinted]

    @property
    def is_covered(self) -> bool:
        """Whether memory spans were recognised, everywhere where there seem to be some, and lack nothing."""
        return bool(self.recognised) and not self.gaps and not self.unrecognised


def examine(catalogue: duckdb.DuckDBPyConnection, selection: Selection) -> Coverage:
    """Look at the spans of a catalogue, which may be read-only, by service, environment and their earliest start."""

    def rows(name: str, kind: type[_Row], **variables: object) -> list[_Row]:
        parameters = {"service": selection.service, "environment": selection.environment, "since": selection.since}
        text = _TEXTS.get_template(f"{name}.sql").render(variables)
        return [kind(*map(_frozen, row)) for row in catalogue.execute(text, parameters).fetchall()]

    senders = rows("services", Sender)
    present = [] if senders else catalogue.execute(_TEXTS.get_template("present.sql").render()).fetchall()
    return Coverage(
        senders,
        rows("recognised", Recognised),
        rows("gaps", Lack, gaps=GAPS, without_score=WITHOUT_SCORE),
        rows("hints", Hint, words=WORDS, other_keys=OTHER_KEYS, names=MOST_NAMES, keys=MOST_KEYS),
        [Present(*row) for row in present],
    )


def _frozen(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(Failing(**item) if isinstance(item, dict) else item for item in value)
