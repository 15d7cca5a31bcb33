"""A counted span within its trace, and what it inherits."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from oracle.values import Row, as_text, cited, known
from otlp import SECOND, S


class Spot:
    """A counted span within its trace."""

    def __init__(self, s: S, trace: dict[int, "Spot"]) -> None:
        self.s, self.trace = s, trace
        self.start, self.end = int(s.start * SECOND), int(s.end * SECOND)
        self.time = max(self.start, self.end)
        self.text = {key: as_text(value) for key, value in s.attributes.items()}

    @cached_property
    def up(self) -> list["Spot"]:
        """Itself and its ancestors, nearest first."""
        path, at = [self], self.s.parent
        while len(path) <= 64 and at in self.trace and self.trace[at] not in path:
            path.append(self.trace[at])
            at = path[-1].s.parent
        return path

    def linked(self, what: str) -> list[str]:
        """The ids that span links with this `memory.link` name, in their order."""
        links = [link for link in self.s.links if link.get("memory.link") == what and "memory.id" in link]
        return [name for link in links for name in cited(as_text(link["memory.id"]))]

    def carried(self, keys: Iterable[str]) -> str | None:
        return next((value for key in keys if (value := known(self.text.get(key)))), None)

    def inherited(self, keys: Sequence[str]) -> str | None:
        return next((value for spot in self.up if (value := spot.carried(keys))), None)

    @cached_property
    def runs(self) -> bool:
        return (
            self.text.get("gen_ai.operation.name") == "invoke_agent"
            or self.text.get("openinference.span.kind") == "AGENT"
        )

    @cached_property
    def run(self) -> "Spot":
        """The span that stands for the agent run that this one belongs to."""
        return next((spot for spot in self.up if spot.runs), self.target)

    @cached_property
    def target(self) -> "Spot":
        return min(self.trace.values(), key=lambda spot: (spot.s.parent != 0, spot.start, spot.s.span))

    @cached_property
    def explicit(self) -> str | None:
        if self.text.get("memory.decision") == "true":
            return "marked"
        return "plan" if self.text.get("gen_ai.operation.name") == "plan" else None

    @property
    def ids(self) -> Row:
        return {"trace_id": f"{self.s.trace:032x}", "span_id": f"{self.s.span:016x}"}

    @property
    def place(self) -> Row:
        return {"environment": self.s.environment, "service_name": self.s.service}
