"""The vocabulary of memory operations, and the numbers that analysis depends on.

A convention recognises a kind: write, read, get, delete, outcome, lineage, conflict or other. `get` is a read, but
lineage beneath a search span; `conflict` names a write that a conflict resolver refused. Users see the operation:
write, read, delete, outcome, lineage or other.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The configurable numbers of semantics; the defaults are the seed's."""

    max_hops: int = 5
    min_threshold: float = 0.4
    flag_threshold: float = 0.6
    assumed_confidence: float = 0.5
    clock_skew_seconds: float = 60.0
    pass_threshold: float = 0.7
    quiet_seconds: float = 5.0
