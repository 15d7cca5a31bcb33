"""Findings, each with its severity and its place."""

from collections.abc import Iterator

from oracle.operations import Op
from oracle.spans import Spot
from oracle.values import Row, confidence, moment
from oracle.versions import Decision, Version
from oracle.world import Oracle, thresholds
from otlp import SECOND

SEVERITY = {
    "unresolved_parent": "warning",
    "cross_environment_parent": "error",
    "cycle": "error",
    "derived_before_parent": "warning",
    "confidence_inflated": "warning",
    "read_before_write": "info",
    "confidence_mismatch": "warning",
    "filtered_memory_returned": "warning",
    "stale_memory_read": "info",
    "read_without_ids": "warning",
    "missing_session": "info",
    "invalid_confidence": "error",
    "invalid_thresholds": "error",
    "memory_span_without_agent_run": "info",
    "decision_without_memory": "warning",
    "decision_cites_unread": "warning",
}
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
    if op.confidence not in {None, v.declared} and v.source == "declared":
        yield "confidence_mismatch", op.id, {"shown": op.confidence, "declared": v.declared, "version": v.number}
    fresh = o.freshness(op)
    if o.rules.stale_below is not None and fresh is not None and fresh < o.rules.stale_below:
        yield "stale_memory_read", op.id, {"freshness": fresh, "age_days": o.age(op), "version": v.number}
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
