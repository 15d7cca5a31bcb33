"""Span sets for comparing the engine with the oracle: every shape of memory use that the semantics speaks of.

`scenario(random.Random(seed))` is fast and repeatable; `scenarios()` gives hypothesis the same sets, to shrink.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from otlp import S, Value

VALID: Sequence[Value] = (0.0, 0.1, 0.3, 0.39, 0.4, 0.5, 0.59, 0.6, 0.7, 0.85, 0.9, 1, 1.0, "0.4", " 0.25 ", "9e-1")
BROKEN: Sequence[Value] = (float("nan"), float("inf"), 1.7, -0.1, "high", "", True, "true", "1_0", "0x1")
INVALID: Sequence[Value | None] = (None, None, None, *BROKEN)
AGENTS = ("a", "a", "b", "c", "", "unknown", None)
SESSIONS = ("s", "s", "t", "", None)
MOMENTS: Sequence[float] = (*range(12), 3.5, 59.0, 60.0, 61.0, 63.0, 70.0, 130.0)
MISSING = 99
"""The id of a parent span that never arrives."""

SOURCES: Sequence[Value] = (
    "direct",
    "Weak inference",
    "tool_output",
    "slack",
    "",
    ["speculation", "user-message", "x"],
)
EVIDENCE: Mapping[str, Sequence[object]] = {
    "content": ("The pool  is exhausted", "the pool is exhausted ", "raise it", "Raise it", "", 5),
    "type": ("fact", "Preference", "semantic"),
    "observations": (0, 1, 7, -1, "3", "x", 2.5),
    "confirmed": (True, "true", False),
    "grounding": ("partial", "Partial ", 0.6, "full"),
    "extractor": ("gpt-4o", "claude-opus-4", "unheard", ""),
    "logprobs": ([-0.25, -0.5, -0.1], [-0.7], [0.5], [], "[-1]", "none"),
}
MODELS = ("claude-haiku", "gpt-4o", "llama", "")

Attributes = dict[str, Value]


@dataclass
class Story:
    """A set of spans that grows; `rng` decides everything."""

    rng: random.Random
    spans: list[S] = field(default_factory=list)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def confidence(self) -> Value | None:
        return self.rng.choice(INVALID if self.chance(0.2) else VALID)

    def span(self, name: str, at: float, attributes: Mapping[str, Value | None], lasts: float = 0.0) -> S:
        """Add a span, somewhere among those of a trace."""
        trace = self.rng.choice((1, 1, 1, 2, 3))
        within = [s.span for s in self.spans if s.trace == trace]
        parent = self.rng.choice([0, MISSING, *within, *within, *within]) if self.chance(0.7) else 0
        s = S(
            trace,
            len(self.spans) + 1,
            name,
            parent,
            at - lasts,
            at,
            {key: value for key, value in attributes.items() if value is not None},
            error=self.chance(0.05),
            service=self.rng.choice(("svc", "svc", "other")),
            environment=self.rng.choice(("", "", "", "", "prod")),
            links=[self.link() for _ in range(self.rng.randint(1, 3))] if self.chance(0.1) else (),
        )
        self.spans.append(s)
        return s

    def link(self) -> Mapping[str, Value]:
        """A span link that says, or does not, which memories it means."""
        cited = self.rng.sample("abcdx", self.rng.randint(1, 2))
        ways: Sequence[Value] = (
            cited[0],
            cited,
            json.dumps(cited),
            json.dumps(cited[0]),
            "",
            "1.10",
            "7e2",
            '{"a": 1}',
        )
        said: Attributes = {"memory.id": self.rng.choice(ways)} if self.chance(0.9) else {}
        return said | {"memory.link": self.rng.choice(("derived_from", "derived_from", "relied_on", "other"))}

    def use(
        self, verb: str, memory: str | None, at: float, parents: Sequence[str] = (), confidence: Value | None = None
    ) -> S:
        """A memledger memory span; what is not said is chosen."""
        parents = list(parents)
        attributes: dict[str, Value | None] = {
            "memledger.memory.operation": verb if self.chance(0.9) else None,
            "memledger.memory.id": memory,
            "memledger.memory.confidence": self.confidence() if confidence is None else confidence,
            "memledger.memory.source_agent_id": self.rng.choice(AGENTS),
            "memledger.memory.session_id": self.rng.choice(SESSIONS),
            "memledger.memory.hedged": self.rng.choice((None, False, True)),
            "memledger.memory.namespace": self.rng.choice((None, "/ops", "/ops/db", "/opsx")),
            "memledger.memory.type": self.rng.choice((None, "semantic")),
            "memledger.memory.parent_ids": self.rng.choice((json.dumps(parents), json.dumps(parents), "no list")),
            "memledger.result_count": self.rng.choice((0, 3)) if verb == "search" and memory is None else None,
        }
        if parents and self.chance(0.9):
            attributes["memledger.memory.parent_ids"] = json.dumps(parents)
        return self.span(f"memledger.memory.{verb}", at, attributes | self.policy() | self.context())

    def record(self, memory: str, parents: Sequence[str] = ()) -> dict[str, object]:
        """A GenAI record, its provenance in its metadata, in itself, or nowhere."""
        about: dict[str, object] = {
            "confidence": self.rng.choice((0.2, 0.5, 0.9, "0.4", "high", 1.7, True, None)),
            "hedged": self.rng.choice((None, True, False)),
            "created_by": self.rng.choice(AGENTS),
            "session_id": self.rng.choice(SESSIONS),
            "derived_from": list(parents),
            "namespace": self.rng.choice((None, "/ops")),
        }
        about = {key: value for key, value in about.items() if value is not None and self.chance(0.7)}
        about |= {key: self.rng.choice(values) for key, values in EVIDENCE.items() if self.chance(0.3)}
        if self.chance(0.5):
            about["source"] = self.rng.choice(SOURCES)
        place = self.rng.choice(("itself", "metadata", "text", "both"))
        if place == "itself":
            return {"id": memory, "score": 0.5} | about
        if place == "both":  # what the metadata does not tell, the record does
            untold = {key: self.rng.choice((None, "", "unknown")) for key in ("created_by", "session_id")}
            untold |= dict.fromkeys(("confidence", "derived_from", "hedged", "namespace"))
            return {"id": memory, "agent_id": self.rng.choice(AGENTS), "metadata": untold} | about
        return {"id": memory, "metadata": json.dumps(about) if place == "text" else about}

    def genai(self, operation: str, memories: Sequence[str], at: float, parents: Sequence[str] = ()) -> S:
        """A GenAI memory span that names its records, or one of them by its id, or says how many it found."""
        attributes: dict[str, Value | None] = {
            "gen_ai.operation.name": operation,
            "gen_ai.memory.store.id": self.rng.choice((None, "st", "st", "st2", "")),
            "memory.confidence": self.confidence() if self.chance(0.3) else None,
            "memory.hedged": True if self.chance(0.2) else None,
            "memory.derived_from": list(parents) if parents and self.chance(0.5) else None,
            "memory.source": self.rng.choice(SOURCES) if self.chance(0.2) else None,
            "memory.observations": self.rng.choice((2, 0, "many")) if self.chance(0.1) else None,
            "memory.extractor.model": "Claude-Haiku" if self.chance(0.05) else None,
            "memory.type": "event" if self.chance(0.1) else None,
            "memory.success": self.chance(0.7) if operation == "record_memory_outcome" else None,
        }
        if len(memories) == 1 and self.chance(0.4):
            attributes["gen_ai.memory.record.id"] = memories[0]
        elif memories or self.chance(0.5):
            records: list[object] = [self.record(m, parents) for m in memories]
            attributes["gen_ai.memory.records"] = json.dumps(
                [*records, *self.rng.choice(([], [], [], ["m1"], [5, None]))]
            )
        else:
            attributes["gen_ai.memory.record.count"] = self.rng.choice((0, 2))
        return self.span(operation, at, attributes | self.policy() | self.context())

    def context(self) -> dict[str, Value | None]:
        """What any span may say of agent and session."""
        keys = ("gen_ai.agent.id", "gen_ai.agent.name", "agent.name", "memory.agent.id")
        said: dict[str, Value | None] = {key: self.rng.choice(AGENTS) for key in keys if self.chance(0.08)}
        sessions = ("session.id", "gen_ai.conversation.id")
        return said | {key: self.rng.choice(SESSIONS) for key in sessions if self.chance(0.08)}

    def policy(self) -> dict[str, Value | None]:
        """Thresholds on the span, now and then."""
        limits: Sequence[Value | None] = (None, 0.2, 0.5, 0.8, "0.3", "none")
        keys = ("min_threshold", "flag_threshold") if self.chance(0.15) else ()
        return {f"memory.confidence_policy.{key}": self.rng.choice(limits) for key in keys}

    def at(self) -> float:
        """Any moment."""
        return self.rng.choice(MOMENTS)


def free(story: Story) -> None:
    """Writes, reads and the rest, in no order: updates between reads, conflicts, outcomes, lineage."""
    rng, lost = story.rng, f"lost{story.rng.randrange(1_000_000)}"
    for _ in range(rng.randint(2, 10)):
        memory, parents = rng.choice("abcd"), rng.sample([*"abcde", lost], rng.choice((0, 0, 1, 2)))
        match rng.randrange(8):
            case 0 | 1 | 2:
                s = story.use(rng.choice(("add", "add", "ingest")), memory, story.at(), parents=parents)
                if story.chance(0.1):
                    attributes: Attributes = {"memledger.existing_id": rng.choice((memory, "z"))}
                    refusal = story.span("memledger.conflict_detected", s.end, attributes)
                    story.spans[-1] = replace(refusal, trace=s.trace, parent=s.span)
            case 3 | 4:
                story.use(rng.choice(("recall", "search")), memory, story.at(), parents=parents)
            case 5:
                story.use(rng.choice(("search", "outcome", "lineage", "other")), rng.choice((None, memory)), story.at())
            case 6:
                name = rng.choice(("get", "get", "record_outcome", "get_lineage", "promote", "unheard_of"))
                said: dict[str, Value | None] = {"memledger.memory_id": memory, "memledger.success": story.chance(0.7)}
                story.span(f"memledger.{name}", story.at(), said | story.context())
            case _:
                store_use(story)


def store_use(story: Story) -> None:
    """GenAI spans of stores and records."""
    rng = story.rng
    verbs = ("create_memory", "update_memory", "upsert_memory", "search_memory", "search_memory", "delete_memory")
    memories = [rng.choice("abcd") for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    parents = rng.sample("abcde", rng.choice((0, 1, 2)))
    story.genai(rng.choice((*verbs, "record_memory_outcome", "create_memory_store")), memories, story.at(), parents)


def chain(story: Story) -> None:
    """Up to 12 derivations deep, the guess at the top or late, the writes in any order of spans."""
    length, first = story.rng.randint(3, 13), story.rng.randint(0, 1)
    order = story.rng.sample(range(length), length)
    for n in order:
        if n or story.chance(0.8):
            parents = [f"c{n - 1}"] if n else []
            story.use("add", f"c{n}", first + n, parents=parents, confidence=0.2 if n == 0 else story.confidence())


def diamond(story: Story) -> None:
    """One source by two ways, one of them longer."""
    edges = {"top": [], "left": ["top"], "mid": ["left"], "right": ["top"], "bottom": ["mid", "right"], "a": ["bottom"]}
    for n, (memory, parents) in enumerate(edges.items()):
        if story.chance(0.93):
            story.use("add", memory, n, parents=parents)


def cycle(story: Story) -> None:
    """Memories that name each other at one moment, or across the clock skew; and one that names itself."""
    size, gap = story.rng.randint(1, 7), story.rng.choice((0, 0, 1, 10, 61))
    for n in range(size):
        parents = [f"y{(n + 1) % size}", *story.rng.sample(["a", "y0"], story.rng.randint(0, 2))]
        story.use("add", f"y{n}", n * gap, parents=parents)


def fan(story: Story) -> None:
    """Many parents of one memory, and many children of another."""
    width = story.rng.randint(4, 12)
    for n in range(width):
        story.use("add", f"f{n}", n, parents=["hub"] if story.chance(0.5) else [])
    story.use("add", "hub", story.at(), parents=["a"])
    story.use("add", "sink", 20, parents=[f"f{n}" for n in range(width)])


RUN_MARKS = (
    ("gen_ai.operation.name", "invoke_agent"),
    ("openinference.span.kind", "AGENT"),
    ("openinference.span.kind", "CHAIN"),
)


def runs(story: Story) -> None:
    """Agent runs, nested now and then, with reads and writes beneath, and decisions that name memories."""
    rng = story.rng
    for _ in range(rng.randint(1, 4)):
        key, value = rng.choice(RUN_MARKS)
        said: dict[str, Value | None] = {key: value, "gen_ai.agent.name": rng.choice(("a", "b", "unknown"))}
        outer = story.span("run", rng.choice((10, 20)), said | story.context() | decided(story, 0.15), lasts=10)
        for _ in range(rng.randint(0, 4)):
            s = story.use(rng.choice(("add", "recall", "recall")), rng.choice("abcd"), story.at(), parents=["a"])
            story.spans[-1] = replace(s, trace=outer.trace, parent=outer.span)
        if story.chance(0.4):
            s = story.span("decide", story.at(), decided(story, 1.0) | story.context(), lasts=rng.choice((0, 1, 4)))
            story.spans[-1] = replace(s, trace=outer.trace, parent=outer.span)
            if story.chance(0.5):
                within = story.use("add", "decision", s.end, parents=rng.sample("abc", rng.randint(0, 2)))
                story.spans[-1] = replace(within, trace=s.trace, parent=s.span)


def observed(story: Story) -> dict[str, Value | None]:
    """A write of one or two memories that say whence they are, mostly not how sure."""
    contents = EVIDENCE["content"][:4]
    records = []
    for memory in story.rng.sample("mnop", story.rng.choice((1, 1, 2))):
        about: dict[str, object] = {"source": "direct", "confidence": 0.9 if story.chance(0.1) else None}
        about |= {key: story.rng.choice(values) for key, values in EVIDENCE.items() if story.chance(0.1)}
        about |= {"derived_from": ["a"]} if story.chance(0.15) else {}
        records.append({"id": memory, "content": story.rng.choice(contents), "metadata": about})
    return {"gen_ai.operation.name": "create_memory", "gen_ai.memory.records": json.dumps(records)}


def calls(story: Story) -> None:
    """Agent runs in which models are called, and what has a source is written in them or after, again and again."""
    rng = story.rng
    for _ in range(rng.randint(1, 3)):
        outer = story.span("run", 10, {"gen_ai.operation.name": rng.choice(("invoke_agent", "chat"))}, lasts=10)
        within = [outer.span]
        for _ in range(rng.randint(2, 8)):
            if story.chance(0.4):
                said: dict[str, Value | None] = {
                    "gen_ai.operation.name": rng.choice(("chat", "chat", "embeddings", None)),
                    "openinference.span.kind": rng.choice((None, None, "LLM")),
                    rng.choice(("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")): rng.choice(MODELS),
                }
                s = story.span("call", rng.randint(1, 9), said, lasts=rng.choice((0, 1)))
            else:
                s = story.span("create_memory", rng.randint(1, 9), observed(story))
            s = story.spans[-1] = replace(s, trace=outer.trace, parent=rng.choice(within))
            within.append(s.span)
            if story.chance(0.1):
                refusal = story.span("memledger.conflict_detected", s.end, {"memledger.existing_id": rng.choice("mn")})
                story.spans[-1] = replace(refusal, trace=s.trace, parent=s.span, environment=s.environment)


def decided(story: Story, share: float) -> dict[str, Value | None]:
    """A decision's own attributes."""
    if not story.chance(share):
        return {}
    marks: Sequence[Attributes] = (
        {"memory.decision": True},
        {"memory.decision": "true"},
        {"memory.decision": False},
        {"gen_ai.operation.name": "plan"},
        {"gen_ai.operation.name": "plan", "memory.decision": True},
    )
    cited = story.rng.sample("abcdx", story.rng.randint(0, 3))
    ways: Sequence[Value | None] = (None, cited, json.dumps(cited), cited[0] if cited else "")
    store = story.rng.choice((None, None, "st"))
    return story.rng.choice(marks) | {"memory.relied_on": story.rng.choice(ways), "gen_ai.memory.store.id": store}


PLOTS = (free, free, store_use, chain, diamond, cycle, fan, runs, runs, runs, calls, calls)


def mishap(story: Story, s: S) -> S:
    """What a network, a clock or an SDK does to a span."""
    rng = story.rng
    changes: Sequence[S] = (
        s,
        replace(s, end=s.end + rng.choice((0.5, 5.0, 65.0))),
        replace(s, start=s.end + rng.choice((1.0, 60.0))),
        replace(s, service="third"),
        replace(s, attributes={**s.attributes, "gen_ai.operation.name": "search_memory"}),
        replace(s, error=not s.error),
        replace(s, parent=rng.choice([other.span for other in story.spans])),
        replace(s, environment="staging" if s.environment else "prod"),
    )
    return rng.choice(changes)


def scenario(rng: random.Random) -> list[S]:
    """A set of up to about 40 spans, with lost ones, changed ones, and copies that differ."""
    story = Story(rng)
    for _ in range(rng.randint(1, 3)):
        rng.choice(PLOTS)(story)
    spans = [mishap(story, s) if story.chance(0.05) else s for s in story.spans if not story.chance(0.03)]
    copies = [mishap(story, s) for s in spans if story.chance(0.08)]
    return rng.sample(spans + copies, len(spans) + len(copies))


def crowd(seeds: Sequence[int]) -> list[S]:
    """The scenarios of these seeds side by side, each with traces and environments of its own."""
    return [
        replace(s, trace=s.trace + 10 * seed, environment=f"{seed}{s.environment}")
        for seed in seeds
        for s in scenario(random.Random(seed))
    ]


def scenarios() -> st.SearchStrategy[list[S]]:
    """The same sets, drawn by hypothesis."""
    return st.randoms(use_true_random=False).map(scenario)
