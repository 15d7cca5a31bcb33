"""Stories as a gate sees them: spans that an engine judged, as a catalogue with the published views."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import duckdb

from engine_harness import Analysis
from otlp import S, read, write
from weaklink_analysis.gate.judging import judge
from weaklink_analysis.gate.verdict import Rules, Verdict
from weaklink_analysis.operations import Settings
from weaklink_analysis.selection import Selection


def catalogue_of(spans: Sequence[S], settings: Settings | None = None) -> duckdb.DuckDBPyConnection:
    """What is published of them."""
    with Analysis(settings) as analysis:
        analysis.feed(spans)
        analysis.evaluate()
        return analysis.catalogue()


class Stories:
    """Several stories that know nothing of each other, judged by one engine: each is an environment of its own."""

    def __init__(self, stories: Mapping[str, Sequence[S]]) -> None:
        self._catalogue = catalogue_of(
            [
                replace(s, trace=100 * number + s.trace, environment=name)
                for number, (name, spans) in enumerate(stories.items())
                for s in spans
            ]
        )

    def verdict(self, name: str, rules: Rules | None = None) -> Verdict:
        """What is said of one of them."""
        return judge(self._catalogue, Selection(environment=name), rules or Rules())


def run(trace: int, span: int, agent: str, at: float = 0) -> S:
    """An agent run, a root of its trace."""
    said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
    return S(trace, span, f"invoke_agent {agent}", 0, at, at + 9, said)


STEPS = (("triage", "triage-1", 0.30), ("diagnosis", "diagnosis-1", 0.85), ("action", "action-1", 0.95))


def cascade(trace: int = 1, guess: float = 0.30, prefix: str = "", service: str = "svc") -> list[S]:
    """The seed's incident: each agent reads what the one before it wrote, and builds on it; the first one guesses."""
    return [replace(s, service=service) for s in _cascade(trace, guess, prefix)]


def _cascade(trace: int, guess: float, prefix: str) -> Iterator[S]:
    before: tuple[str, str, float] | None = None
    for number, (agent, memory, declared) in enumerate(STEPS):
        own, at = number * 10 + 1, number * 10.0
        step = (agent, prefix + memory, declared if number else guess)
        yield run(trace, own, agent, at)
        if before:
            author, read_id, confidence = before
            hedged = confidence < 0.6
            yield read(trace, own + 1, read_id, confidence, at + 1, parent=own, agent=author, hedged=hedged)
        parents = [before[1]] if before else []
        hedged = step[2] < 0.6
        yield write(trace, own + 2, step[1], step[2], at + 2, parent=own, agent=agent, parents=parents, hedged=hedged)
        before = step
