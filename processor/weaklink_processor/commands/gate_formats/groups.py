"""Failures that are alike are told once, with their number."""

from collections.abc import Sequence
from dataclasses import dataclass

from weaklink_analysis.gate.baseline import keys
from weaklink_analysis.gate.verdict import Failure, Key


@dataclass(frozen=True, slots=True)
class Group:
    """The first of failures by the same agent, checks and memory, and how many there are."""

    first: Failure
    count: int

    @property
    def others(self) -> str:
        """What is said of the rest; '' where there is none."""
        return f"and {self.count - 1:,} more like it" if self.count > 1 else ""


def groups(failures: Sequence[Failure]) -> list[Group]:
    """The groups, in the order of their first."""
    alike: dict[tuple[Key, ...], list[Failure]] = {}
    for failure in failures:
        alike.setdefault(tuple(keys(failure)), []).append(failure)
    return [Group(own[0], len(own)) for own in alike.values()]
