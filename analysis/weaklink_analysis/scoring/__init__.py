"""How sure one can be of a memory whose writer does not say, and how fresh a memory is: pure functions of numbers.

The formulas and tables are those of "Scoring Functions in Recall", sections Confidence Scoring and Freshness and
Temporal Decay, and its Appendix B. docs/confidence.md lists where its tables disagree with its formulas; the formulas
count here.
"""

from weaklink_analysis.scoring.confidence import (
    Derived,
    Signals,
    combined,
    confirmed,
    derived,
    extractor_confidence,
    grounded,
    repetition_boost,
    source_strength,
    type_prior,
    word,
)
from weaklink_analysis.scoring.freshness import access_boost, freshness
from weaklink_analysis.scoring.numbers import SCORING, Scoring

__all__ = [
    "SCORING",
    "Derived",
    "Scoring",
    "Signals",
    "access_boost",
    "combined",
    "confirmed",
    "derived",
    "extractor_confidence",
    "freshness",
    "grounded",
    "repetition_boost",
    "source_strength",
    "type_prior",
    "word",
]
