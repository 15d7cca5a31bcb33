"""Rubrics as data: what the structural tier checks, with which weights and limits."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rubric:
    """A structural rubric. Shares are of counted operations, in [0, 1]; confidences too."""

    name: str
    evaluation: str
    weights: dict[str, float]
    """Check name -> weight, in the order in which checks are shown."""
    populated_share: float = 0.9
    confident: float = 0.6
    confident_share: float = 0.7
    missing_confidence: float = 0.5
    agent_share: float = 0.9
    max_depth: int = 5
    low: float = 0.4


STRUCTURAL = Rubric(
    name="mai-structural/1",
    evaluation="memory_attribution_integrity_structural",
    weights={
        "confidence_populated": 2.0,
        "confidence_above_threshold": 2.0,
        "source_agent_present": 2.0,
        "chain_depth_bounded": 1.0,
        "no_low_confidence_unhedged": 3.0,
    },
)
