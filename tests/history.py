"""A thousand traces in which several agents build on one another's memories, one of which was poisoned."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from otlp import S, Value, read, write

POISONED = "m0"
AGENTS = ("triage", "diagnosis", "action", "review")
RECENT = 40
"""Memories that a trace may read and build on."""


def history(traces: int = 1000, *, seed: int = 7, poisoned_at: float = 0.9) -> list[S]:
    """Spans of agent runs, each reading some memories and deriving one; every tenth decides by a span that names some.

    The poisoned memory is written three times, and read now and then as long as the history lasts.
    """
    rng = random.Random(seed)
    return [span for number in range(traces) for span in _trace(rng, number, poisoned_at)]


def _trace(rng: random.Random, number: int, poisoned_at: float) -> Iterator[S]:
    trace, at, agent = number + 1, 10.0 * number, rng.choice(AGENTS)
    run: dict[str, Value] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
    yield S(trace, 1, "invoke_agent", start=at, end=at + 9, attributes=run)
    sources = _sources(rng, number)
    for place, memory in enumerate(sources):
        yield replace(read(trace, 10 + place, memory, None, at + 1 + place / 10), parent=1)
    if number % 10 == 5:
        decided: dict[str, Value] = {"memory.decision": True, "memory.relied_on": sources[:1]}
        yield S(trace, 2, "decide", 1, at + 3, at + 4, decided)
    memory = POISONED if number in {0, 300, 600} else f"m{number}"
    confidence = poisoned_at if memory == POISONED else rng.choice((0.3, 0.5, 0.7, 0.9, 0.95))
    more = {"parents": sources if number % 3 else sources[:1], "agent": agent, "hedged": rng.random() < 0.2}
    yield replace(write(trace, 3, memory, confidence, at + 5, **more), parent=1)


def _sources(rng: random.Random, number: int) -> Sequence[str]:
    recent = [f"m{n}" for n in range(max(1, number - RECENT), number) if n not in {300, 600}]
    chosen = rng.sample(recent, min(len(recent), rng.randint(0, 2)))
    return [*chosen, *([POISONED] if number and rng.random() < 0.02 else [])]
