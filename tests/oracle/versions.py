"""What operations make: versions of memories, chains above them, decisions that rest on them."""

from dataclasses import dataclass, field

from oracle.operations import Op
from oracle.spans import Spot
from oracle.values import Memory, Row


@dataclass(eq=False)
class Version:
    """A version of a memory. `edges`: each parent id that it names -> the version meant and whether by clock skew."""

    op: Op
    memory: Memory
    origin: str
    declared: float
    signals: list[Row] | None = None
    number: int = 0
    edges: dict[str, tuple["Version | None", bool]] = field(default_factory=dict)

    @property
    def time(self) -> int:
        return self.op.spot.time

    @property
    def agent(self) -> str | None:
        return self.op.agent if self.origin == "written" else self.op.author

    @property
    def session(self) -> str | None:
        return self.op.session if self.origin == "written" else self.op.record_session

    @property
    def source(self) -> str:
        return "declared" if self.op.confidence is not None else "derived" if self.signals else "assumed"

    @property
    def parents(self) -> set["Version"]:
        return {parent for parent, _ in self.edges.values() if parent}

    @property
    def unresolved(self) -> list[str]:
        return sorted(id_ for id_, (parent, _) in self.edges.items() if not parent)


@dataclass(frozen=True)
class Chain:
    """A version's numbers that follow from what it was derived from."""

    lowest: float | None
    effective: float
    depth: int
    truncated: bool
    weakest_id: str
    complete: bool


@dataclass(eq=False)
class Decision:
    """A span that decided, and what it relied on: (memory, version or None), by memory id."""

    spot: Spot
    kind: str
    memory: Version | None
    named: list[tuple[Memory, Version | None]]
    relied: list[tuple[Memory, Version | None]]
