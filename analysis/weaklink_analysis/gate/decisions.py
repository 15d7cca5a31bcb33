"""Why decisions fail: what of the memories that they relied on costs them points, and which memory is at fault."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from weaklink_analysis.gate.chains import ways
from weaklink_analysis.gate.texts import rows
from weaklink_analysis.gate.verdict import Check, Failure, Hop, Rules

CONFIDENCE = ("no_low_confidence_unhedged", "no_flagged_confidence_unhedged", "mean_confidence", "chain_confidence")
"""Criteria that a weak memory fails."""
DETAILS = {
    "attribution_complete": "{attributed}/{total} relied-on memories have an author",
    "no_low_confidence_unhedged": "{effective_low} below {a.low} without the hedge mark",
    "no_flagged_confidence_unhedged": "{effective_flagged} from {a.low} to below {a.confident} without the hedge mark",
    "mean_confidence": "mean confidence {effective_mean:.2f}",
    "session_context": "{sessions}/{total} relied-on memories have a session",
    "chain_confidence": "the lowest confidence in the chain is {effective_chain:.2f}",
    "chain_not_truncated": "the chain is longer than is looked at",
}
"""On effective confidence; those of `evaluation_checks` are of the declared one."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """The memory that costs a decision most."""

    memory_id: str
    author: str | None
    version_key: int | None
    """From where its chain is told; None: it is not known here."""
    kind: str
    """unknown: nothing here wrote or showed it; confidence; or the criterion that it fails."""


def failing_decisions(catalogue: duckdb.DuckDBPyConnection, rules: Rules, most: int) -> list[Failure]:
    """Tell the selected decisions whose score is too low, the lowest first."""
    found = rows(
        catalogue, "failing_decisions", {"min_score": rules.min_score, "most": most}, attribution=rules.attribution
    )
    faults = [_fault(row) for row in found]
    chains = ways(catalogue, {fault.version_key for fault in faults if fault.version_key is not None})
    return [
        _failure(row, fault, chains.get(fault.version_key, ()) if fault.version_key is not None else (), rules)
        for row, fault in zip(found, faults, strict=True)
    ]


def _fault(row: Mapping[str, Any]) -> _Fault:
    points: dict[str, float] = {}
    for criterion in row["criteria"]:
        kind = "confidence" if criterion["name"] in CONFIDENCE else criterion["name"]
        points[kind] = points.get(kind, 0.0) + criterion["points"]
    kind = min(points, key=lambda name: points[name], default="confidence")
    lowest: Mapping[str, Any] = row["relied_on"][0]
    own = row["memory_effective"]
    if kind == "chain_not_truncated" or (kind == "confidence" and own is not None and own <= lowest["effective"]):
        return _Fault(row["decision_memory_id"], row["memory_author"], row["memory_key"], kind)
    lacks = {"attribution_complete": lambda r: r["author"] is None, "session_context": lambda r: not r["has_session"]}
    if kind in lacks:
        lowest = next(record for record in row["relied_on"] if lacks[kind](record))
    key = lowest["version_key"]
    return _Fault(lowest["memory_id"], lowest["author"], key, "unknown" if key is None else kind)


def _failure(row: Mapping[str, Any], fault: _Fault, chain: Sequence[Hop], rules: Rules) -> Failure:
    weakest = chain[-1] if chain and fault.kind == "confidence" else None
    a = rules.attribution
    why, mend = _words(row, fault, chain, a.assumed_confidence)
    checks = [Check(c["name"], DETAILS[c["name"]].format(a=a, **row), round(c["points"], 4)) for c in row["criteria"]]
    if not checks:  # a service is about to judge it again
        since = "what it relied on has changed since it was judged"
        checks = [Check("score_effective", since, round(row["score"] - 1, 4))]
    return Failure(
        tier="1",
        trace_id=row["trace_id"],
        span_id=row["span_id"],
        environment=row["environment"],
        service_name=row["service_name"],
        session_id=row["session_id"],
        agent_id=row["agent_id"],
        score=row["score"],
        declared_score=row["declared_score"],
        min_score=rules.min_score,
        checks=tuple(sorted(checks, key=lambda check: check.points)),
        memory_id=weakest.memory_id if weakest else fault.memory_id,
        author=weakest.agent_id if weakest else fault.author,
        chain=tuple(chain),
        why=why,
        mend=mend,
    )


def _words(row: Mapping[str, Any], fault: _Fault, chain: Sequence[Hop], assumed: float) -> tuple[str, str]:
    who = row["agent_id"] or "The decision"
    match fault.kind:
        case "attribution_complete":
            return (
                f"{who} relied on {fault.memory_id}, and nothing says who wrote it.",
                f"Name the author where {fault.memory_id} is written; `weaklink doctor` prints the line that does it.",
            )
        case "session_context":
            return (
                f"{who} relied on {fault.memory_id}, and nothing says in which session it was written.",
                "Set session.id on the spans that write memories, or on the run around them.",
            )
        case "unknown":
            counts = f"it counts as {assumed:.2f}, of nobody"
            return (
                f"{who} relied on {fault.memory_id}, which nothing here wrote or showed: {counts}.",
                f"Send the spans that wrote {fault.memory_id} too, or correct the id that the decision names.",
            )
        case "chain_not_truncated":
            return (
                f"{who} wrote {fault.memory_id} at the end of more derivations than are looked at.",
                "Derive from the sources themselves, not from what was derived from them many times over.",
            )
    return _weak(who, row, chain)


def _weak(who: str, row: Mapping[str, Any], chain: Sequence[Hop]) -> tuple[str, str]:
    weakest, lowest = chain[-1], row["relied_on"][0]
    said = f"{weakest.agent_id or 'nobody known'} declared at {_number(weakest.declared)}"
    if weakest.memory_id == lowest["memory_id"]:
        unhedged = "" if lowest["hedged"] else " without the hedge mark"
        why = f"{who} relied on {weakest.memory_id}, which {said}{unhedged}."
    elif lowest["effective"] < lowest["declared"]:
        why = (
            f"{who} relied on {lowest['memory_id']}, declared at {lowest['declared']:.2f}, which stands on "
            f"{weakest.memory_id}, which {said}: it is worth {lowest['effective']:.2f}."
        )
    else:
        why = f"{who} wrote {chain[0].memory_id}, which stands on {weakest.memory_id}, which {said}."
    return why, (
        f"Have {weakest.memory_id} confirmed and written again at the confidence it then has, or decide without it."
    )


def _number(value: float | None) -> str:
    return "no confidence" if value is None else f"{value:.2f}"
