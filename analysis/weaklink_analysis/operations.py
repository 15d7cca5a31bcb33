"""The vocabulary of memory operations, and the numbers that analysis depends on.

A convention recognises a kind: write, read, get, delete, outcome, lineage, conflict or other. `get` is a read, but
lineage beneath a search span; `conflict` names a write that a conflict resolver refused. Users see the operation:
write, read, delete, outcome, lineage or other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from weaklink_analysis.mai.attribution import ATTRIBUTION, Attribution
from weaklink_analysis.mai.rubrics import MAX_HOPS, STRUCTURAL, Rubric
from weaklink_analysis.scoring import SCORING, Scoring

Thresholds: TypeAlias = tuple[float | None, float | None]
"""min_threshold and flag_threshold; None: what holds without it."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """Which spans are decisions: those with such a name and these attributes."""

    span_name: str | None = None
    """`*` stands for any text, `?` for one character; None: any name."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Keys and values as the lake has them: text as it is, `true`, numbers in decimals."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The configurable numbers of semantics; the defaults are the seed's."""

    max_hops: int = MAX_HOPS
    min_threshold: float = 0.4
    flag_threshold: float = 0.6
    assumed_confidence: float = 0.5
    unresolved_confidence: float | None = None
    """Of what an unresolved parent is taken to be, as one more ancestor; None: it bounds nothing."""
    clock_skew_seconds: float = 60.0
    pass_threshold: float = 0.7
    quiet_seconds: float = 5.0
    namespaces: Mapping[str, Thresholds] = field(default_factory=dict)
    """By namespace: `/ops` is meant for `/ops` and all beneath it, the longest counts."""
    services: Mapping[str, Thresholds] = field(default_factory=dict)
    attribution: Attribution = ATTRIBUTION
    """By which decisions are judged; its threshold and its assumed confidence are those above."""
    rubrics: tuple[Rubric, ...] = (STRUCTURAL,)
    """By which traces and sessions are judged, each for itself."""
    scoring: Scoring = SCORING
    """By which confidences are derived and memories age."""
