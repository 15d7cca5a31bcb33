"""Freshness: how recent a memory is, by how fast its type ages, and how much it was used.

Source: "Scoring Functions in Recall", Freshness and Temporal Decay.
"""

import math

from weaklink_analysis.scoring.confidence import word
from weaklink_analysis.scoring.numbers import SCORING, Scoring


def freshness(age_days: float, memory_type: str | None, scoring: Scoring = SCORING) -> float:
    """2^(-age / half-life), never below the floor of 0.1; 1 for what seems to be from the future."""
    half_life = scoring.half_lives.get(word(memory_type or ""), scoring.unknown_half_life)
    return max(scoring.freshness_floor, math.exp2(-max(0.0, age_days) / half_life))


def access_boost(reads: int) -> float:
    """1 + ln(1 + n), at least 1: how much it counts that a memory was read n times.

    Raises:
        ValueError: if n is negative.
    """
    if reads < 0:
        raise ValueError("expected no fewer than 0 reads")
    return 1 + math.log(1 + reads)
