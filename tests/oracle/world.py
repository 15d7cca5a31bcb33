"""The world that a set of spans tells of: versions, what references mean, chains, thresholds, decisions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from oracle.evidence import derived, word
from oracle.operations import Op, recognised
from oracle.spans import Spot
from oracle.values import Memory, cited, confidence
from oracle.versions import Chain, Decision, Version
from otlp import SECOND, S

HALF_LIVES = {"entity": 365, "fact": 180, "relation": 180, "preference": 90, "event": 30}


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
    half_lives: Mapping[str, float] = field(default_factory=lambda: HALF_LIVES)
    stale_below: float | None = None
    namespaces: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    services: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)


def counted(spans: Sequence[S], fingerprint: Callable[[S], str]) -> list[Spot]:
    """Of several spans with one trace id and span id, the one that counts.

    The fingerprint, which takes longer than all the rest of the oracle, decides among copies that end at one moment.
    """
    traces: dict[int, dict[int, Spot]] = {}
    copies = Counter((s.trace, s.span, int(s.end * SECOND)) for s in spans)

    def order(s: S) -> tuple[int, str]:
        end = int(s.end * SECOND)
        return -end, fingerprint(s) if copies[s.trace, s.span, end] > 1 else ""

    for s in sorted(spans, key=order):
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
        self._derive()
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

    def _derive(self) -> None:
        """What was written without a confidence, but not without a source, gets the one that its evidence says."""
        writes = [version.op for version in self.all_versions]
        for version in self.all_versions:
            found = derived(version.op, writes)
            if found:
                version.declared, version.signals = found

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

    def age(self, op: Op) -> float | None:
        """Days that a memory is old when it is read; None: nobody saw its write."""
        if op.operation != "read" or op.version is None or op.version.origin != "written":
            return None
        return max(0, op.spot.time - op.version.time) / (86400 * SECOND)

    def freshness(self, op: Op) -> float | None:
        age = self.age(op)
        if age is None or op.version is None:
            return None
        return max(0.1, 2 ** (-age / self.rules.half_lives.get(word(op.version.op.memory_type), 180.0)))

    def earlier_reads(self, op: Op) -> int | None:
        """How often the memory that a read returns had been read before it."""
        if op.operation != "read" or op.version is None:
            return None
        return sum(
            other.operation == "read"
            and other.version is not None
            and other.version.memory == op.version.memory
            and other.order < op.order
            for other in self.ops
        )

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
        cited_ids = cited(spot.text.get("memory.relied_on")) + spot.linked("relied_on")
        store = spot.text.get("gen_ai.memory.store.id", "")
        named = {
            (memory := self.memory(spot.s.environment, store, id_)): self.resolve(memory, spot.start)[0]
            for id_ in cited_ids
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
