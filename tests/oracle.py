"""What the tables must hold, by brute force: plain Python from semantics.md, sharing no code with the engine.

`tables` walks graphs and sorts lists; nothing is kept between calls, so no order of arrival can matter. Rows have the
columns of schema.md without row keys, revision and evaluated_at; JSON columns are Python values.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

from otlp import DAWN, SECOND, S, Value

Row = dict[str, object]
Memory = tuple[str, str, str]
"""Environment, store, id."""

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
AGENT = ("gen_ai.agent.id", "gen_ai.agent.name", "agent.name", "memory.agent.id", "memledger.memory.source_agent_id")
SESSION = ("memledger.memory.session_id", "session.id", "gen_ai.conversation.id")
MEMLEDGER = {"add": "write", "ingest": "write", "search": "read", "recall": "read"} | {
    verb: verb for verb in ("outcome", "lineage")
}
MEMLEDGER_NAMES = {
    "memledger.get": "get",
    "memledger.record_outcome": "outcome",
    "memledger.get_lineage": "lineage",
    "memledger.conflict_detected": "conflict",
    "memledger.promote": "other",
}
GENAI = {
    "create_memory": "write",
    "update_memory": "write",
    "upsert_memory": "write",
    "search_memory": "read",
    "delete_memory": "delete",
    "create_memory_store": "other",
    "delete_memory_store": "other",
}
TIER_1, TIER_3 = "memory_attribution_integrity", "memory_attribution_integrity_structural"
SEVERITY = {
    "unresolved_parent": "warning",
    "cross_environment_parent": "error",
    "cycle": "error",
    "derived_before_parent": "warning",
    "confidence_inflated": "warning",
    "read_before_write": "info",
    "confidence_mismatch": "warning",
    "filtered_memory_returned": "warning",
    "read_without_ids": "warning",
    "missing_session": "info",
    "invalid_confidence": "error",
    "invalid_thresholds": "error",
    "memory_span_without_agent_run": "info",
    "decision_without_memory": "warning",
    "decision_cites_unread": "warning",
}


@dataclass(frozen=True)
class Rules:
    """The configurable numbers. Thresholds are (min, flag), either None; namespaces are prefixes."""

    max_hops: int = 5
    min_threshold: float = 0.4
    flag_threshold: float = 0.6
    assumed_confidence: float = 0.5
    clock_skew_seconds: float = 60.0
    pass_threshold: float = 0.7
    unresolved_confidence: float | None = None
    namespaces: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    services: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)


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


@dataclass(eq=False)
class Op:
    """A memory touched by a span: what the span says of it."""

    spot: Spot
    convention: str
    kind: str
    id: str | None
    ordinal: int = 0
    store: str = ""
    raw: str | None = None
    hedged: bool = False
    parents: Sequence[str] = ()
    author: str | None = None
    actor: str | None = None
    record_session: str | None = None
    memory_type: str | None = None
    namespace: str | None = None
    score: float | None = None
    rank: int | None = None
    success: bool | None = None
    counted: bool = False
    version: "Version | None" = None
    skewed: bool = False

    @property
    def operation(self) -> str:
        if self.kind == "get":
            return "lineage" if any(reads(spot) for spot in self.spot.up[1:]) else "read"
        return "other" if self.kind == "conflict" else self.kind

    @property
    def order(self) -> tuple[int, int, int, int]:
        return (self.spot.time, self.spot.s.trace, self.spot.s.span, self.ordinal)

    @property
    def confidence(self) -> float | None:
        return confidence(self.raw)

    @property
    def own_agent(self) -> str | None:
        return self.author or self.actor or self.spot.carried(AGENT)

    @property
    def agent(self) -> str | None:
        return self.author or self.actor or self.spot.inherited(AGENT)

    @property
    def session(self) -> str | None:
        return self.record_session or self.spot.inherited(SESSION)


@dataclass(eq=False)
class Version:
    """A version of a memory. `edges`: each parent id that it names -> the version meant and whether by clock skew."""

    op: Op
    memory: Memory
    origin: str
    declared: float
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
        return "assumed" if self.op.confidence is None else "declared"

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


def as_text(value: Value) -> str:
    """An attribute as the span batch has it."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return str(value).replace("nan", "NaN").replace("inf", "Infinity")
        case int() | str():
            return str(value)
    return json.dumps(list(value), ensure_ascii=False, separators=(",", ":"))


def known(value: object) -> str | None:
    return None if value in {None, "", "unknown"} else str(value)


def confidence(raw: str | None) -> float | None:
    """A number from 0 to 1, or text that is one."""
    return float(raw) if raw is not None and NUMBER.fullmatch(raw) and 0 <= float(raw) <= 1 else None


def parsed(value: str | None) -> object:
    try:
        return json.loads(value or "null")
    except ValueError:
        return None


def names(value: object) -> list[str]:
    """The ids of a list, or of one bare id."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]


def cited(value: str | None) -> list[str]:
    """The ids of a text: a JSON array of ids, a JSON string, or one bare id."""
    listed = parsed(value)
    return names(listed if isinstance(listed, list | str) else value)


def reads(spot: Spot) -> bool:
    return any(op.kind == "read" for op in recognised(spot))


def verb(spot: Spot) -> str:
    return spot.text.get("memledger.memory.operation") or spot.s.name.removeprefix("memledger.memory.")


def memledger(spot: Spot) -> Iterator[Op]:
    """At most one operation: memledger names one record on a span."""
    text = spot.text
    memory_span = any(key.startswith("memledger.memory.") for key in (spot.s.name, *text))
    kind = MEMLEDGER.get(verb(spot), "other") if memory_span else MEMLEDGER_NAMES.get(spot.s.name)
    if kind is None:
        return
    keys = ("memory.id", "memory_id", "existing_id", "promoted_id")
    found_none = kind == "read" and "memledger.memory.id" not in text and text.get("memledger.result_count") == "0"
    parents = parsed(text.get("memledger.memory.parent_ids"))
    yield Op(
        spot,
        "memledger",
        kind,
        next((text[f"memledger.{key}"] for key in keys if f"memledger.{key}" in text), None),
        raw=text.get("memledger.memory.confidence"),
        hedged=text.get("memledger.memory.hedged") == "true",
        parents=names(parents) if isinstance(parents, list) else [],
        author=known(text.get("memledger.memory.source_agent_id")),
        record_session=known(text.get("memledger.memory.session_id")),
        memory_type=text.get("memledger.memory.type"),
        namespace=text.get("memledger.memory.namespace"),
        success=text["memledger.success"] == "true" if "memledger.success" in text else None,
        counted=memory_span and kind != "other" and not found_none,
    )


def genai(spot: Spot) -> Iterator[Op]:
    """An operation a record; one for a span that names none."""
    text = spot.text
    kind = GENAI.get(text.get("gen_ai.operation.name", ""))
    if kind is None:
        return
    listed = parsed(text.get("gen_ai.memory.records"))
    records = [record for record in listed if isinstance(record, dict)] if isinstance(listed, list) else []
    single = text.get("gen_ai.memory.record.id")
    none_found = listed == [] or text.get("gen_ai.memory.record.count") == "0"
    for ordinal, record in enumerate(records or [{}]):
        inner = record.get("metadata")
        metadata = parsed(inner) if isinstance(inner, str) else inner
        about = record | {k: v for k, v in (metadata if isinstance(metadata, dict) else {}).items() if v is not None}
        raw, hedged = about.get("confidence"), about.get("hedged")
        parents = about.get("derived_from")
        on_span = text.get("memory.derived_from")
        yield Op(
            spot,
            "genai",
            kind,
            record.get("id", single if len(records) <= 1 else None),
            ordinal,
            store=text.get("gen_ai.memory.store.id", ""),
            raw=text.get("memory.confidence") if raw is None else as_text(raw),
            hedged=(text.get("memory.hedged") if hedged is None else as_text(hedged)) == "true",
            parents=names(parents) if parents is not None else cited(on_span),
            author=next((who for who in authors(metadata, record) if who), None),
            actor=known(text.get("memory.agent.id")),
            record_session=known(about.get("session_id")),
            memory_type=about.get("type"),
            namespace=about.get("namespace"),
            score=record.get("score"),
            rank=ordinal + 1 if kind == "read" and records else None,
            counted=kind in {"write", "read"} and not (kind == "read" and not records and not single and none_found),
        )


def recognised(spot: Spot) -> list[Op]:
    """The operations of the most specific convention that knows the span."""
    return list(memledger(spot)) or list(genai(spot))


def authors(*places: object) -> Iterator[str | None]:
    for place in places:
        if isinstance(place, dict):
            yield from (known(place.get(key)) for key in ("created_by", "agent_id"))


def moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(DAWN // SECOND, UTC) + timedelta(microseconds=nanoseconds // 1000)


def counted(spans: Sequence[S], fingerprint: Callable[[S], str]) -> list[Spot]:
    """Of several spans with one trace id and span id, the one that counts."""
    traces: dict[int, dict[int, Spot]] = {}
    for s in sorted(spans, key=lambda s: (-int(s.end * SECOND), fingerprint(s))):
        trace = traces.setdefault(s.trace, {})
        if s.span not in trace:
            trace[s.span] = Spot(s, trace)
    return [spot for trace in traces.values() for spot in trace.values()]


class Oracle:
    """The world that a set of spans tells of."""

    def __init__(self, spans: Sequence[S], rules: Rules, fingerprint: Callable[[S], str]) -> None:
        self.rules = rules
        self.spots = counted(spans, fingerprint)
        self.ops = sorted((op for spot in self.spots for op in recognised(spot)), key=lambda op: op.order)
        self.versions: dict[Memory, list[Version]] = {}
        self.stores: dict[tuple[str, str], set[str]] = {}
        self.chains: dict[Version, Chain] = {}
        self._write()
        self._observe()
        self._number()
        self._resolve()

    @property
    def all_versions(self) -> list[Version]:
        return [version for versions in self.versions.values() for version in versions]

    def _make(self, op: Op, memory: Memory, origin: str) -> Version:
        declared = self.rules.assumed_confidence if op.confidence is None else op.confidence
        version = Version(op, memory, origin, declared)
        self.versions.setdefault(memory, []).append(version)
        self.stores.setdefault((memory[0], memory[2]), set()).add(memory[1])
        return version

    def _write(self) -> None:
        conflicts = [(op.spot.s, op.id) for op in self.ops if op.kind == "conflict"]
        refused = {(s.trace, s.parent, s.environment, id_) for s, id_ in conflicts}
        for op in self.ops:
            s = op.spot.s
            failed = s.error or (s.trace, s.span, s.environment, op.id) in refused
            if op.kind == "write" and op.id is not None and not failed:
                op.version = self._make(op, (s.environment, op.store, op.id), "written")

    def _observe(self) -> None:
        """A read that names no store means '' if that was written to, so what such reads show comes last."""
        shows = [op for op in self.ops if op.operation == "read" and op.id is not None and op.confidence is not None]
        for op in shows:
            if op.store:
                self.stores.setdefault((op.spot.s.environment, op.id or ""), set()).add(op.store)
        last: dict[Memory, float | None] = {}
        for op, memory in [(op, self.memory_of(op)) for op in shows]:
            written = [v for v in self.versions.get(memory, []) if v.origin == "written"]
            if not any(v.time <= op.spot.time for v in written):
                if last.get(memory) != op.confidence:
                    self._make(op, memory, "observed")
                last[memory] = op.confidence

    def _number(self) -> None:
        for versions in self.versions.values():
            versions.sort(key=lambda v: v.op.order)
            for number, version in enumerate(versions, 1):
                version.number = number

    def _resolve(self) -> None:
        for version in self.all_versions:
            for parent in version.op.parents:
                memory = self.memory(version.memory[0], version.op.store, parent)
                version.edges[parent] = self.resolve(memory, version.time, version)
        for op in self.ops:
            if op.kind != "write" and op.id is not None:
                op.version, op.skewed = self.resolve(self.memory_of(op), op.spot.time)

    def memory(self, environment: str, store: str, id_: str) -> Memory:
        """What a reference names, whenever it does."""
        stores = set(self.stores.get((environment, id_), ()))
        if store or "" in stores or len(stores) != 1:
            return (environment, store, id_)
        return (environment, stores.pop(), id_)

    def memory_of(self, op: Op) -> Memory:
        return self.memory(op.spot.s.environment, op.store, op.id or "")

    def resolve(self, memory: Memory, time: int, child: Version | None = None) -> tuple[Version | None, bool]:
        """The version meant at a time, and whether only clock skew explains it."""
        versions = self.versions.get(memory, [])
        if child in versions:
            return (versions[child.number - 2] if child.number > 1 else None), False
        before = [v for v in versions if v.time <= time]
        if before or not versions:
            return (before[-1] if before else None), False
        if versions[0].origin == "observed":
            return versions[0], False
        if versions[0].time - time <= self.rules.clock_skew_seconds * SECOND:
            return versions[0], True
        return None, False

    def ancestors(self, version: Version) -> dict[Version, int]:
        """Every version above, itself too if it is on a cycle -> fewest steps, at most max_hops."""
        steps: dict[Version, int] = {}
        level = {version}
        for hop in range(1, self.rules.max_hops + 1):
            level = {parent for v in level for parent in v.parents}
            for parent in level:
                steps.setdefault(parent, hop)
        return steps

    def chain(self, version: Version) -> Chain:
        if version not in self.chains:
            self.chains[version] = self._chain(version)
        return self.chains[version]

    def _chain(self, version: Version) -> Chain:
        hops = self.rules.max_hops
        steps = {v: hop for v, hop in self.ancestors(version).items() if v is not version}
        above = [(v.declared, hop, v.memory[2]) for v, hop in steps.items()]
        gaps = [(hop + 1, id_) for v, hop in [(version, 0), *steps.items()] if hop < hops for id_ in v.unresolved]
        if self.rules.unresolved_confidence is not None:
            above += [(self.rules.unresolved_confidence, hop, id_) for hop, id_ in gaps]
        weakest = min([(version.declared, 0, version.memory[2]), *above])
        depth, level = 0, version.parents
        while level and depth <= hops:
            depth, level = depth + 1, {parent for v in level for parent in v.parents}
        return Chain(min(above)[0] if above else None, weakest[0], depth, depth > hops, weakest[2], not gaps)

    def policy(self, op: Op) -> tuple[float, float]:
        """The thresholds (min, flag) that apply to an operation."""
        low, high = self.asked(op)
        return (low, high) if low <= high else self.configured(op)

    def asked(self, op: Op) -> tuple[float, float]:
        """The span's thresholds, the configured ones where it has none; they may contradict each other."""
        own = [confidence(raw) for raw in thresholds(op.spot)]
        low, high = (a if b is None else b for a, b in zip(self.configured(op), own, strict=True))
        return low, high

    def configured(self, op: Op) -> tuple[float, float]:
        def matches(prefix: str) -> bool:
            return op.namespace is not None and (op.namespace + "/").startswith(prefix.rstrip("/") + "/")

        places = [self.rules.namespaces[p] for p in sorted(self.rules.namespaces, key=len, reverse=True) if matches(p)]
        places.append(self.rules.services.get(op.spot.s.service, (None, None)))
        places.append((self.rules.min_threshold, self.rules.flag_threshold))
        low, high = (next(p[i] for p in places if p[i] is not None) for i in (0, 1))
        return low or 0.0, high or 0.0

    def flag(self, op: Op, version: Version | None) -> str | None:
        if version is None:
            return None
        low, high = self.policy(op)
        effective = self.chain(version).effective
        return "PASS" if effective >= high else "FLAG" if effective >= low else "FILTER"

    @cached_property
    def decisions(self) -> list[Decision]:
        explicit = [(spot, spot.run, spot.explicit) for spot in self.spots if spot.explicit]
        decided = {place for spot, run, _ in explicit for place in (spot, run)}
        uses = [op for op in self.ops if op.operation == "read" or (op.kind == "write" and op.version and op.parents)]
        runs = {op.spot.run for op in uses}
        implicit = [(run, run, "agent_run" if run.runs else "trace") for run in runs - decided]
        return [self._decide(spot, run, kind) for spot, run, kind in [*explicit, *implicit]]

    def _decide(self, spot: Spot, run: Spot, kind: str) -> Decision:
        ops = [op for op in self.ops if op.spot.run is run]
        written = [op.version for op in ops if op.kind == "write" and op.version]
        beneath = [v for v in written if next((s for s in v.op.spot.up if s.explicit), None) is spot]
        decision_memory = next(reversed(beneath or written), None)
        raw = spot.text.get("memory.relied_on")
        store = spot.text.get("gen_ai.memory.store.id", "")
        named = {
            (memory := self.memory(spot.s.environment, store, id_)): self.resolve(memory, spot.start)[0]
            for id_ in cited(raw)
        }
        reads = {
            self.memory_of(op): op.version
            for op in ops
            if op.operation == "read" and op.id is not None and (run is spot or op.spot.time <= spot.start)
        }
        parents: dict[Memory, Version | None] = {}
        if decision_memory is not None:
            for id_, (parent, _) in decision_memory.edges.items():
                parents[self.memory(decision_memory.memory[0], decision_memory.op.store, id_)] = parent
        relied = named or reads or parents
        order = sorted(relied.items(), key=lambda item: (item[0][2], item[0][1], item[0][0]))
        return Decision(spot, kind, decision_memory, list(named.items()), order)

    def effective(self, version: Version | None) -> float:
        return self.chain(version).effective if version else self.rules.assumed_confidence


def thresholds(spot: Spot) -> list[str | None]:
    return [spot.text.get(f"memory.confidence_policy.{key}_threshold") for key in ("min", "flag")]


Criterion = tuple[str, float, str]
"""Name, adjustment, detail."""


def attribution(o: Oracle, d: Decision, *, effective: bool) -> tuple[float, list[Criterion]]:
    """Tier 1: the score before rounding, and its criteria."""
    count, versions = len(d.relied), [version for _, version in d.relied]
    sure = [o.effective(v) if effective else v.declared if v else o.rules.assumed_confidence for v in versions]
    agents = [v.agent for v in versions if v and v.agent]
    sessions = sum(1 for v in versions if v and v.session)
    unhedged = [c for c, v in zip(sure, versions, strict=True) if not (v and v.op.hedged)]
    low, flagged = sum(c < 0.4 for c in unhedged), sum(0.4 <= c < 0.6 for c in unhedged)
    total = 0.0
    for c in sure:  # sum() compensates from Python 3.12 on
        total += c
    mean = total / count
    decided = o.chain(d.memory) if d.memory else None
    links = ([decided.effective] if decided else []) + (sure if effective else [])
    length = f"longer than {o.rules.max_hops} derivations" if decided and decided.truncated else "not truncated"
    criteria = [
        (
            "attribution_complete",
            -(1.0 - len(agents) / count) * 0.4,
            f"{len(agents)}/{count} relied-on memories have an author",
        ),
        ("no_low_confidence_unhedged", -low * 0.25, f"{low} below 0.4 without the hedge mark"),
        ("no_flagged_confidence_unhedged", -flagged * 0.1, f"{flagged} from 0.4 to below 0.6 without the hedge mark"),
        ("mean_confidence", -(0.6 - mean) * 0.5 if mean < 0.6 else 0.0, f"mean confidence {mean:.2f}"),
        (
            "session_context",
            -(1.0 - sessions / count) * 0.15 if sessions / count < 0.5 else 0.0,
            f"{sessions}/{count} relied-on memories have a session",
        ),
        (
            "chain_confidence",
            -0.2 if links and min(links) < 0.4 else 0.0,
            f"the decision memory's effective confidence is {decided.effective:.2f}"
            if decided
            else "no decision memory",
        ),
        (
            "chain_not_truncated",
            -0.05 if decided and decided.truncated else 0.0,
            f"the chain is {length}" if decided else "no decision memory",
        ),
        (
            "multi_agent_corroboration",
            0.05 if len(set(agents)) >= 2 else 0.0,
            f"{len(set(agents))} distinct authors",
        ),
    ]
    score = 1.0
    for _, adjustment, _ in criteria:
        score += adjustment
    return max(0.0, min(1.0, score)), criteria


Check = tuple[str, bool, float, str]
"""Name, verdict, weight, detail."""


def structure(o: Oracle, ops: Sequence[Op]) -> list[Check]:
    """Tier 3's checks over counted operations."""

    def share(part: int, whole: int) -> float:
        return part / whole if whole else 0.0

    count = len(ops)
    sure, named = sum(op.confidence is not None for op in ops), sum(op.own_agent is not None for op in ops)
    shown = [0.5 if op.confidence is None else op.confidence for op in ops if op.operation in {"read", "write"}]
    high = sum(c >= 0.6 for c in shown)
    above, percent = share(high, len(shown)), share(100 * high, len(shown))
    deepest = max(o.chain(op.version).depth if op.version else 0 for op in ops)
    reads = [op for op in ops if op.operation == "read" and not op.hedged and op.confidence is not None]
    low = sum((op.confidence or 0.0) < 0.4 for op in reads)
    return [
        (
            "confidence_populated",
            sure / count >= 0.9,
            2.0,
            f"{sure}/{count} operations have confidence ({100 * sure / count:.0f}%)",
        ),
        ("confidence_above_threshold", above >= 0.7, 2.0, f"{percent:.0f}% of memories have confidence >= 0.6"),
        (
            "source_agent_present",
            named / count >= 0.9,
            2.0,
            f"{named}/{count} operations have an agent ({100 * named / count:.0f}%)",
        ),
        ("chain_depth_bounded", deepest <= 5, 1.0, f"Deepest chain: {deepest} derivations (limit: 5)"),
        ("no_low_confidence_unhedged", low == 0, 3.0, f"{low} low-confidence memories read without the hedge mark"),
    ]


def explanation(checks: Sequence[Check]) -> str:
    passed, failed = [c for c in checks if c[1]], [c for c in checks if not c[1]]
    halves = [
        (f"Passed ({len(passed)}/{len(checks)}): ", ", ".join(c[0] for c in passed)),
        (f"Failed ({len(failed)}/{len(checks)}): ", "; ".join(f"{c[0]} — {c[3]}" for c in failed)),
    ]
    return ". ".join(head + rest for head, rest in halves if rest)


def evaluations(o: Oracle) -> Iterator[tuple[Row, list[Check]]]:
    """Every evaluation and its checks."""
    for d in o.decisions:
        row = {"name": TIER_1, "scope": "decision", "rubric": "mai-attribution/1", "span_count": len(d.relied)}
        row |= d.spot.ids | d.spot.place | {"session_id": d.spot.inherited(SESSION) or ""}
        if not d.relied:
            yield verdict(o, row, None, None, None, "The decision relied on no memory."), []
            continue
        score, criteria = attribution(o, d, effective=False)
        checks = [(n, a >= 0, round(a, 4) + 0.0, detail) for n, a, detail in criteria]
        bound = round(attribution(o, d, effective=True)[0], 4)
        more = f". On effective confidence: {bound:.4f}" if bound != round(score, 4) else ""
        passed = score >= o.rules.pass_threshold
        yield verdict(o, row, round(score, 4), bound, passed, explanation(checks) + more), checks
    groups: dict[tuple[str, object], list[Op]] = {}
    for op in (op for op in o.ops if op.counted):
        groups.setdefault(("trace", op.spot.s.trace), []).append(op)
        if op.session:
            groups.setdefault(("session", (op.spot.s.environment, op.session)), []).append(op)
    for (scope, _), ops in groups.items():
        spot = ops[0].spot.target if scope == "trace" else ops[0].spot
        spans = {op.spot for op in ops}
        row = {"name": TIER_3, "scope": scope, "rubric": "mai-structural/1", "span_count": len(spans)}
        row |= spot.ids | spot.place | {"session_id": next((op.session for op in ops if op.session), "")}
        checks = structure(o, ops)
        score = round(sum(c[2] for c in checks if c[1]) / sum(c[2] for c in checks), 4)
        yield verdict(o, row, score, None, score >= o.rules.pass_threshold, explanation(checks)), checks


def verdict(o: Oracle, row: Row, score: float | None, bound: float | None, passed: bool | None, why: str) -> Row:  # noqa: FBT001, PLR0917
    label = {None: "not_evaluable", True: "pass", False: "fail"}[passed]
    numbers = {"score": score, "score_effective": bound, "threshold": o.rules.pass_threshold, "passed": passed}
    return row | numbers | {"label": label, "explanation": why, "annotator_kind": "CODE"}


Finding = tuple[str, Spot, int, str | None, int, Row]
"""Code, span, ordinal, memory id, time, detail."""


def edge_findings(o: Oracle, v: Version) -> Iterator[tuple[str, Row]]:
    """What is wrong with what a version was derived from."""
    environment, own = v.memory[0], [i for i in v.unresolved if o.memory(v.memory[0], v.op.store, i) == v.memory]
    elsewhere = {i: {m[0] for m in o.versions if m[2] == i} - {environment} for i in v.unresolved if i not in own}
    here, there = [i for i in elsewhere if not elsewhere[i]], [i for i in elsewhere if elsewhere[i]]
    if here:
        yield "unresolved_parent", {"parent_ids": here}
    if there:
        known_in = sorted({e for environments in elsewhere.values() for e in environments})
        yield "cross_environment_parent", {"parent_ids": there, "environments": known_in}
    back = dict.fromkeys(own, 1) | ways_back(o, v)
    if back:
        yield "cycle", {"length": min(back.values()), "parent_ids": sorted(back)}
    skewed = {i: parent for i, (parent, late) in v.edges.items() if late and parent}
    if skewed:
        lead = max(parent.time - v.time for parent in skewed.values())
        yield "derived_before_parent", {"parent_ids": sorted(skewed), "seconds": round(lead / SECOND, 6)}


def ways_back(o: Oracle, v: Version) -> dict[str, int]:
    """Parent ids from which a version is reached again -> steps of the shortest way round, at most max_hops."""
    rounds = {i: 1 + o.ancestors(parent).get(v, o.rules.max_hops) for i, (parent, _) in v.edges.items() if parent}
    return {i: steps for i, steps in rounds.items() if steps <= o.rules.max_hops}


def version_findings(o: Oracle, v: Version) -> Iterator[tuple[str, Row]]:
    chain = o.chain(v)
    yield from edge_findings(o, v)
    if v.source != "assumed" and chain.lowest is not None and v.declared > chain.lowest:
        numbers = {"declared": v.declared, "chain_min_confidence": chain.lowest}
        yield "confidence_inflated", numbers | {"weakest_id": chain.weakest_id}


def read_findings(o: Oracle, op: Op, v: Version) -> Iterator[tuple[str, str | None, Row]]:
    """What a read shows against the version that it means."""
    if op.skewed:
        lead = round((v.time - op.spot.time) / SECOND, 6)
        yield "read_before_write", op.id, {"version": v.number, "seconds": lead}
    if op.confidence not in {None, v.declared} and v.source != "assumed":
        yield "confidence_mismatch", op.id, {"shown": op.confidence, "declared": v.declared, "version": v.number}
    if o.flag(op, v) == "FILTER":
        bound: Row = {"effective_confidence": o.chain(v).effective, "min_threshold": o.policy(op)[0]}
        yield "filtered_memory_returned", op.id, bound | {"version": v.number}


def use_findings(o: Oracle, op: Op) -> Iterator[tuple[str, str | None, Row]]:
    """What a read or a write does not say, or says wrongly."""
    if op.counted and op.operation == "read" and op.id is None:
        yield "read_without_ids", None, {"operation": op.operation}
    if op.counted and not op.session:
        yield "missing_session", op.id, {"operation": op.operation}
    raw = thresholds(op.spot)
    low, high = o.asked(op)
    refused = any(text is not None and confidence(text) is None for text in raw)
    if refused or (any(confidence(text) is not None for text in raw) and low > high):
        yield "invalid_thresholds", None, {"min_threshold": raw[0], "flag_threshold": raw[1]}


def op_findings(o: Oracle, op: Op) -> Iterator[tuple[str, str | None, Row]]:
    if op.operation == "read" and op.version:
        yield from read_findings(o, op, op.version)
    if op.operation in {"read", "write"}:
        yield from use_findings(o, op)
    if op.raw is not None and op.confidence is None:
        yield "invalid_confidence", op.id, {"value": op.raw[:100]}
    if op.operation != "other" and not any(s.runs for s in op.spot.up):
        yield "memory_span_without_agent_run", None, {"operation": op.operation}


def decision_findings(o: Oracle, d: Decision) -> Iterator[tuple[str, str | None, Row]]:
    if not d.relied:
        yield "decision_without_memory", None, {"kind": d.kind}
    read = {o.memory_of(op) for op in o.ops if op.operation == "read" and op.id and op.spot.s.trace == d.spot.s.trace}
    for memory, version in d.named:
        if memory not in read:
            yield "decision_cites_unread", memory[2], {"version": version.number if version else None}


def findings(o: Oracle) -> list[Row]:
    found: list[Finding] = []
    for v in o.all_versions:
        place = (v.op.spot, v.op.ordinal, v.memory[2], v.time)
        found += [(code, *place, detail) for code, detail in version_findings(o, v)]
    for op in o.ops:
        found += [(code, op.spot, op.ordinal, id_, op.spot.time, detail) for code, id_, detail in op_findings(o, op)]
    for d in o.decisions:
        found += [(code, d.spot, 0, id_, d.spot.start, detail) for code, id_, detail in decision_findings(o, d)]
    rows: dict[tuple[str, Spot, str | None], Row] = {}
    for code, spot, _, id_, time, detail in sorted(found, key=lambda f: f[2]):
        row = {"code": code, "severity": SEVERITY[code], "memory_id": id_, "time": moment(time), "detail": detail}
        rows.setdefault((code, spot, id_), row | spot.ids | spot.place)
    return list(rows.values())


def version_row(o: Oracle, v: Version) -> Row:
    chain = o.chain(v)
    return (
        dict(zip(("environment", "store", "memory_id"), v.memory, strict=True))
        | v.op.spot.ids
        | {
            "service_name": v.op.spot.s.service,
            "version": v.number,
            "written_at": moment(v.time),
            "origin": v.origin,
            "agent_id": v.agent,
            "session_id": v.session,
            "memory_type": v.op.memory_type,
            "namespace": v.op.namespace,
            "declared_confidence": v.declared,
            "confidence_source": v.source,
            "hedged": v.op.hedged,
            "parent_ids": list(v.op.parents),
            "chain_min_confidence": chain.lowest,
            "effective_confidence": chain.effective,
            "confidence_flag": o.flag(v.op, v),
            "chain_depth": chain.depth,
            "chain_truncated": chain.truncated,
            "weakest_id": chain.weakest_id,
            "unresolved_parents": len(v.unresolved),
            "chain_complete": chain.complete,
        }
    )


def memory_row(o: Oracle, versions: Sequence[Version]) -> Row:
    """The newest version of a memory, how good it is and how it was used."""
    newest = versions[-1]
    used = [op for op in o.ops if op.version in versions]
    reads = sum(op.operation == "read" for op in used)
    conflicts = sum(op.kind == "conflict" for op in used)
    s, f = (sum(op.operation == "outcome" and op.success is said for op in used) for said in (True, False))
    quality = 60 * o.effective(newest) + 25 * (s + 1) / (s + f + 2) + 1.5 * min(reads, 10) - 10 * conflicts
    return version_row(o, newest) | {
        "quality_score": max(0, min(100, round(quality - (5 if newest.op.hedged else 0)))),
        "read_count": reads,
        "success_count": s,
        "failure_count": f,
        "first_written_at": moment(versions[0].time),
    }


def operation_row(o: Oracle, op: Op) -> Row:
    return (
        op.spot.ids
        | op.spot.place
        | {
            "ordinal": op.ordinal,
            "start_time": moment(op.spot.start),
            "end_time": moment(op.spot.end),
            "operation": op.operation,
            "store": op.store,
            "memory_id": op.id,
            "memory_type": op.memory_type,
            "namespace": op.namespace,
            "agent_id": op.agent,
            "session_id": op.session,
            "declared_confidence": op.confidence,
            "hedged": op.hedged,
            "parent_ids": list(op.parents),
            "score": op.score,
            "rank": op.rank,
            "success": op.success,
            "conflict": op.kind == "conflict",
            "convention": op.convention,
            "resolved_store": op.version.memory[1] if op.version else None,
            "resolved_version": op.version.number if op.version else None,
            "effective_confidence": o.effective(op.version) if op.version else None,
            "confidence_flag": o.flag(op, op.version),
            "agent_run_span_id": next((f"{s.s.span:016x}" for s in op.spot.up if s.runs), None),
            "min_threshold": o.policy(op)[0],
            "flag_threshold": o.policy(op)[1],
        }
    )


def derivation_rows(v: Version) -> Iterator[Row]:
    for id_, (parent, _) in v.edges.items():
        yield {
            "environment": v.memory[0],
            "store": v.memory[1],
            "child_id": v.memory[2],
            "child_version": v.number,
            "parent_id": id_,
            "parent_store": parent.memory[1] if parent else None,
            "parent_version": parent.number if parent else None,
            "child_confidence": v.declared,
            "parent_confidence": parent.declared if parent else None,
        }


def decision_row(o: Oracle, d: Decision) -> Row:
    return (
        d.spot.ids
        | d.spot.place
        | {
            "start_time": moment(d.spot.start),
            "agent_id": d.spot.inherited(AGENT),
            "session_id": d.spot.inherited(SESSION),
            "kind": d.kind,
            "decision_memory_id": d.memory.memory[2] if d.memory else None,
            "memory_ids": [memory[2] for memory, _ in d.relied],
            "min_effective_confidence": min((o.effective(v) for _, v in d.relied), default=None),
        }
    )


def gating_rows(o: Oracle) -> Iterator[Row]:
    spans: dict[Spot, list[Op]] = {}
    for op in o.ops:
        if op.operation == "read":
            spans.setdefault(op.spot, []).append(op)
    for spot, ops in spans.items():
        flags = [o.flag(op, op.version) for op in ops]
        low, high = o.policy(ops[0])
        counts = {"passed": flags.count("PASS"), "flagged": flags.count("FLAG"), "filtered": flags.count("FILTER")}
        records = [
            {"id": op.id, "effective_confidence": o.effective(op.version) if op.version else None, "flag": flag}
            for op, flag in zip(ops, flags, strict=True)
            if op.id is not None
        ]
        yield spot.ids | counts | {"min_threshold": low, "flag_threshold": high, "records": records}


def tables(
    spans: Sequence[S], rules: Rules | None = None, fingerprint: Callable[[S], str] = repr
) -> dict[str, list[Row]]:
    """Every table that these spans make.

    fingerprint: what decides between spans of one trace id and span id that end at one moment; the smallest counts.
    """
    o = Oracle(spans, rules or Rules(), fingerprint)
    judged = list(evaluations(o))
    check_columns = ("check_name", "passed", "weight", "detail")
    key = ("name", "scope", "trace_id", "span_id", "session_id", "rubric", "annotator_kind")
    return {
        "memory_operations": [operation_row(o, op) for op in o.ops],
        "memory_versions": [version_row(o, v) for v in o.all_versions],
        "memories": [memory_row(o, versions) for versions in o.versions.values()],
        "derivations": [row for v in o.all_versions for row in derivation_rows(v)],
        "decisions": [decision_row(o, d) for d in o.decisions],
        "evaluations": [row for row, _ in judged],
        "evaluation_checks": [
            {column: row[column] for column in key} | dict(zip(check_columns, check, strict=True))
            for row, checks in judged
            for check in checks
        ],
        "confidence_gating": list(gating_rows(o)),
        "findings": findings(o),
    }
