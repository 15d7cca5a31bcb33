"""Derived confidence: what a memory's evidence says of it where its writer gives no number.

    conf = min(1, 0.45 s + 0.20 r + 0.25 e + 0.10 t)

Source: "Scoring Functions in Recall", Confidence Scoring, Grounding confidence penalty, and Appendix B.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from weaklink_analysis.scoring.numbers import SCORING, Scoring

_BLANKS = re.compile(r"[\s_-]+", re.ASCII)


def word(text: str) -> str:
    """A level, an origin or a type as the tables have it: `Direct statement` and `direct-statement` are one word."""
    return _BLANKS.sub("_", text).strip("_").lower()


def source_strength(sources: Sequence[str], scoring: Scoring = SCORING) -> float | None:
    """s: how directly the fact was stated, in [0, 1]; None if the table has none of these sources.

    A fact that several turns state has the strength of the strongest (Appendix B, Multi-turn memories).
    """
    return max((scoring.sources[w] for w in map(word, sources) if w in scoring.sources), default=None)


def repetition_boost(observations: int) -> float:
    """r(n) = 1 - 1 / (1 + ln(1 + n)), in [0, 1): how much it adds that a fact was observed n times independently.

    Raises:
        ValueError: if n is negative.
    """
    if observations < 0:
        raise ValueError("expected no fewer than 0 observations")
    return 1 - 1 / (1 + math.log(1 + observations))


def extractor_confidence(model: str | None = None, logprobs: Sequence[float] = (), scoring: Scoring = SCORING) -> float:
    """e: how reliable what extracted the memory is, in [0, 1].

    With token logprobs (natural logarithms, none above 0) the geometric mean of the tokens' probabilities, else the
    table's value for the model.
    """
    if logprobs:
        return math.exp(sum(logprobs) / len(logprobs))
    name = (model or "").lower()
    parts = sorted((part for part in scoring.extractors if part in name), key=lambda part: (-len(part), part))
    return scoring.extractors[parts[0]] if parts else scoring.unknown_extractor


def type_prior(memory_type: str | None, scoring: Scoring = SCORING) -> float:
    """t: the baseline of the memory's type, in [0, 1]; of an unknown type that of Appendix B, Unknown type."""
    return scoring.types.get(word(memory_type or ""), scoring.unknown_type)


def combined(s: float, r: float, e: float, t: float, scoring: Scoring = SCORING) -> float:
    """The weighted sum of source strength, repetition boost, extractor confidence and type prior, at most 1."""
    weighted = scoring.source_weight * s + scoring.repetition_weight * r
    return min(1.0, weighted + scoring.extractor_weight * e + scoring.type_weight * t)


def confirmed(s: float, observations: int, e: float, t: float, scoring: Scoring = SCORING) -> float:
    """The confidence after a user confirmed the memory: s is at least 0.80, n one more, the result at most 0.99."""
    strength, boost = max(s, scoring.confirmed_source), repetition_boost(observations + 1)
    return min(scoring.confirmation_cap, combined(strength, boost, e, t, scoring))


def grounded(confidence: float, penalty: float, scoring: Scoring = SCORING) -> tuple[float, bool]:
    """The confidence after a partial grounding verdict, not below 0, and whether it is below the floor.

    Recall drops what is below the floor. weaklink tells what was written, so it keeps the number and says so.
    """
    adjusted = max(0.0, confidence - penalty)
    return adjusted, adjusted < scoring.grounding_floor


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of how a memory came to be."""

    sources: tuple[str, ...]
    """How directly each turn stated it, or where it came from."""
    observations: int = 1
    """n: how often the fact was observed independently, this time included."""
    model: str | None = None
    """What extracted it."""
    logprobs: tuple[float, ...] = ()
    memory_type: str | None = None
    confirmed: bool = False
    grounding_penalty: float | None = None
    """None: no partial verdict."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived confidence, the terms it was made of, and what they leave open."""

    confidence: float
    source: float
    repetition: float
    extractor: float
    prior: float
    type_uncertain: bool
    below_floor: bool


def derived(signals: Signals, scoring: Scoring = SCORING) -> Derived | None:
    """The confidence that the signals say; None without the source strength: nothing stands in for that."""
    s = source_strength(signals.sources, scoring)
    if s is None:
        return None
    e = extractor_confidence(signals.model, signals.logprobs, scoring)
    t = type_prior(signals.memory_type, scoring)
    n = signals.observations
    if signals.confirmed:
        confidence = confirmed(s, n, e, t, scoring)
        s, n = max(s, scoring.confirmed_source), n + 1
    else:
        confidence = combined(s, repetition_boost(n), e, t, scoring)
    below = False
    if signals.grounding_penalty is not None:
        confidence, below = grounded(confidence, signals.grounding_penalty, scoring)
    uncertain = word(signals.memory_type or "") not in scoring.types
    return Derived(confidence, s, repetition_boost(n), e, t, uncertain, below)
