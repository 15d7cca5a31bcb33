"""What agents of a company do: traces of four services in two environments, each with its habits and its gaps.

The services keep the memories of a case as long as they work on it and rewrite some, and have a playbook. Most writes
are sound; some are guesses that others build upon, some agents declare more than their sources bear, some reads come
from a stale cache, and some spans lack what they should carry.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from load import RESOURCE, Attributes, key_values
from month_spans import Instrumentation, Memory, body, head, request, work

MILLISECOND = 1_000_000  # nanoseconds
OPEN_CASES, RUNS_OF_A_CASE, CASE_MEMORIES = 12, 15, 30
PLAYBOOK = 60
AGENTS, BOASTERS = 8, 2
"""Of a service; the first ones declare what they like."""
TYPES = ("semantic", "episodic", "procedural")


@dataclass(frozen=True, slots=True)
class Habits:
    """How a service uses memory; shares are from 0 to 1."""

    share: float
    read_ms: float
    nameless_reads: float = 0.0
    without_agent: float = 0.0
    genai: bool = False


SERVICES = {
    "support": Habits(share=0.40, read_ms=12),
    "research": Habits(share=0.25, read_ms=35, genai=True),
    "billing": Habits(share=0.20, read_ms=18, nameless_reads=0.1),
    "operations": Habits(share=0.15, read_ms=60, without_agent=0.3),
}
ENVIRONMENTS = {"production": 0.8, "staging": 0.2}


@dataclass(slots=True)
class Case:
    """What a service works on for some runs, and what it remembers of it."""

    name: str
    runs: int
    memories: deque[Memory] = field(default_factory=lambda: deque(maxlen=CASE_MEMORIES))


class Service:
    """One service in one environment: an endless row of traces, the same for the same seed."""

    def __init__(self, name: str, environment: str, seed: int) -> None:
        self.habits = SERVICES[name]
        self.share = self.habits.share * ENVIRONMENTS[environment]
        self._prefix = f"{name}-{environment[:4]}"
        self._rng = Random(f"{name} {environment} {seed}")
        self._spans = Instrumentation(name, self._rng, self.habits.genai, self.habits.nameless_reads)
        self._cases: list[Case] = []
        self._playbook: list[Memory] = []
        self._numbers = 0
        self._agents = [f"{name}-agent-{number}" for number in range(AGENTS)]
        own = {**RESOURCE, "service.name": name, "deployment.environment.name": environment}
        self._resource = Resource(attributes=key_values(own)).SerializeToString()
        self._session, self._session_runs = "", 0

    def request(self, spans: Sequence[bytes]) -> bytes:
        """Return an ExportTraceServiceRequest, serialized."""
        return request(self._resource, spans)

    def know_playbook(self) -> None:
        """Have the playbook that another with the same name has written, instead of writing it again."""
        self._playbook = self._plays()

    def trace(self, start: int) -> list[bytes]:
        """Return the spans of a run that begins then (nanoseconds), serialized, the root last."""
        rng = self._rng
        agent, session = rng.choice(self._agents), self._next_session()
        told = None if self._chance(self.habits.without_agent) else agent
        trace, root = rng.randbytes(16), rng.randbytes(8)
        spans, now = [], start
        for rest, milliseconds in self._steps(agent, told, session):
            begin, now = now, now + max(1, int(milliseconds * MILLISECOND))
            spans.append(head(trace, rng.randbytes(8), root, begin, now) + rest)
        attributes: Attributes = {"gen_ai.operation.name": "invoke_agent", "session.id": session}
        if told:
            attributes |= {"gen_ai.agent.id": told, "gen_ai.agent.name": told}
        spans.append(head(trace, root, b"", start, now + MILLISECOND) + body("invoke_agent", attributes))
        return spans

    def _steps(self, agent: str, told: str | None, session: str) -> Iterator[tuple[bytes, float]]:
        """Yield what a run does under its root: the rest of the span, and how long it takes in milliseconds."""
        rng = self._rng
        yield self._chat()
        if self._chance(0.8):
            yield from self._remember(agent, told, session)
        for _ in range(rng.randrange(1, 4)):
            yield rng.choice(work()[1]), rng.lognormvariate(5.5, 1)
            yield self._chat()

    def _chat(self) -> tuple[bytes, float]:
        return self._rng.choice(work()[0]), self._rng.lognormvariate(7, 0.6)

    def _remember(self, agent: str, told: str | None, session: str) -> Iterator[tuple[bytes, float]]:
        rng, case = self._rng, self._case()
        if not self._playbook:
            self._playbook = self._plays()
            for memory in self._playbook:
                yield self._spans.write(memory, told), rng.lognormvariate(2, 0.5)
        known = [*case.memories, rng.choice(self._playbook)]
        read = rng.sample(known, min(len(known), rng.choice((1, 1, 2, 3))))
        for span in self._spans.reads(read, told):
            yield span, rng.lognormvariate(0, 0.5) * self.habits.read_ms
        yield self._chat()
        for _ in range(rng.choice((0, 1, 1, 2))):
            memory = self._new(f"{case.name}-{len(case.memories)}-{self._numbers}", agent, session, read)
            case.memories.append(memory)
            yield self._spans.write(memory, told), rng.lognormvariate(2, 0.5)
        if self._chance(0.1) and read[0] in case.memories:
            rewritten = self._rewritten(read[0], agent, session)
            case.memories[case.memories.index(read[0])] = rewritten
            yield self._spans.write(rewritten, told), rng.lognormvariate(2, 0.5)
        if self._chance(0.15):
            yield self._spans.outcome(rng.choice(read)), rng.lognormvariate(1, 0.5)

    def _plays(self) -> list[Memory]:
        return [self._new(f"{self._prefix}-play-{n}", self._agents[2], "", []) for n in range(PLAYBOOK)]

    def _case(self) -> Case:
        if len(self._cases) < OPEN_CASES:
            self._numbers += 1
            self._cases.append(Case(f"{self._prefix}-{self._numbers}", self._rng.randrange(1, 2 * RUNS_OF_A_CASE)))
        case = self._rng.choice(self._cases)
        case.runs -= 1
        if case.runs <= 0:
            self._cases.remove(case)
        return case

    def _new(self, memory_id: str, agent: str, session: str, read: Sequence[Memory]) -> Memory:
        rng = self._rng
        self._numbers += 1
        parents = [memory for memory in read if self._chance(0.6)]
        bound = min((parent.effective for parent in parents), default=1.0)
        guess = self._chance(0.06)
        own = round(rng.uniform(0.15, 0.45) if guess else rng.betavariate(8, 2), 2)
        boasts = agent in self._agents[:BOASTERS]
        declared = own if boasts else min(own, bound)
        ids = [parent.id for parent in parents] + ([f"lost-{self._numbers}"] if self._chance(0.01) else [])
        return Memory(
            memory_id, rng.choice(TYPES), declared, min(declared, bound), agent, session,
            guess and self._chance(0.5), tuple(ids),
        )  # fmt: skip

    def _rewritten(self, memory: Memory, agent: str, session: str) -> Memory:
        new = self._new(memory.id, agent, session, [])
        return replace(
            new, parents=memory.parents, effective=min(new.effective, memory.effective), stale=memory.confidence
        )

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _next_session(self) -> str:
        if not self._session_runs:
            self._numbers += 1
            self._session, self._session_runs = f"{self._prefix}-session-{self._numbers}", self._rng.randrange(1, 6)
        self._session_runs -= 1
        return self._session
