"""The numbers of scoring, all configurable. The SQL models read the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SOURCES: Mapping[str, float] = {
    "direct": 0.95,
    "direct_statement": 0.95,
    "confirmation": 0.80,
    "user_confirmation": 0.80,
    "strong_inference": 0.70,
    "weak_inference": 0.50,
    "speculation": 0.30,
    # Where a memory came from, for writers that know no more than that; weaklink's own choice of a level for each.
    "user_message": 0.95,  # as a direct statement
    "tool_output": 0.70,  # as a strong inference
    "retrieved_document": 0.50,  # as a weak inference
    "model_inference": 0.30,  # as speculation
}
"""Source strength by how directly the fact was stated, or by where it came from."""

EXTRACTORS: Mapping[str, float] = {"sonnet": 0.90, "opus": 0.90, "haiku": 0.80, "gpt-4": 0.85, "gpt-3.5": 0.65}
"""Extractor confidence by a part of the model's name, in lower case; the longest part found counts."""

TYPES: Mapping[str, float] = {"entity": 0.90, "event": 0.85, "fact": 0.80, "preference": 0.75, "relation": 0.70}
"""Type prior."""

HALF_LIVES: Mapping[str, float] = {"entity": 365, "fact": 180, "relation": 180, "preference": 90, "event": 30}
"""Days after which a memory of the type is half as fresh."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The numbers of derived confidence and of freshness. But for days, all are in [0, 1]."""

    source_weight: float = 0.45
    repetition_weight: float = 0.20
    extractor_weight: float = 0.25
    type_weight: float = 0.10
    sources: Mapping[str, float] = field(default_factory=lambda: dict(SOURCES))
    extractors: Mapping[str, float] = field(default_factory=lambda: dict(EXTRACTORS))
    unknown_extractor: float = 0.65
    types: Mapping[str, float] = field(default_factory=lambda: dict(TYPES))
    unknown_type: float = 0.75
    confirmed_source: float = 0.80
    """What a confirmation raises the source strength to."""
    confirmation_cap: float = 0.99
    """More than this no confirmed memory gets."""
    grounding_penalty: float = 0.20
    """Off for a partial grounding verdict that names no penalty."""
    grounding_floor: float = 0.30
    """Below this after the penalty, a memory is not to be kept."""
    half_lives: Mapping[str, float] = field(default_factory=lambda: dict(HALF_LIVES))
    unknown_half_life: float = 180.0
    """Days, for a type that is not known: it is taken for a fact."""
    freshness_floor: float = 0.1
    stale_below: float | None = None
    """A read of a memory less fresh than this is a finding; None: none is."""


SCORING = Scoring()
