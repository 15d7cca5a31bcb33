"""Why traces fail: which span shows best what a structural check misses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from weaklink_analysis.gate.chains import ways
from weaklink_analysis.gate.texts import rows
from weaklink_analysis.gate.verdict import Check, Failure, Hop, Rules
from weaklink_analysis.mai.rubrics import Rubric


@dataclass(frozen=True, slots=True)
class _Shows:
    """Which of the operations that count shows that a check fails, and what is said of it."""

    when: str
    order: str
    """The lowest shows it best."""
    why: str
    mend: str
    of_memory: bool = False
    """Whether a memory is at fault, and not the instrumentation."""


def _culprits(rubric: Rubric) -> dict[str, _Shows]:
    shown = f"coalesce(declared_confidence, {rubric.missing_confidence!r})"
    return {
        "no_low_confidence_unhedged": _Shows(
            f"operation = 'read' AND declared_confidence < {rubric.low!r} AND NOT hedged",
            "declared_confidence",
            "{agent} read {memory} at {declared}, and nothing marks it as a guess",
            "Mark guesses as hedged where they are written, have {memory} confirmed, or read no such memories.",
            of_memory=True,
        ),
        "confidence_above_threshold": _Shows(
            f"operation IN ('read', 'write') AND {shown} < {rubric.confident!r}",
            shown,
            "{detail}, which is too few; the {operation} of {memory} by {agent} has {declared}",
            "Have {memory} confirmed and written again, or leave it out of what is read.",
            of_memory=True,
        ),
        "confidence_populated": _Shows(
            "declared_confidence IS NULL",
            "span.memory_id IS NOT NULL",
            "{detail}; the {operation} of {memory} by {agent} has none (span {span})",
            "Put the ids and confidences of records on the span; `weaklink doctor` prints the line that does it.",
        ),
        "source_agent_present": _Shows(
            "NOT has_agent",
            "0",
            "{detail}; the {operation} of {memory} names none (span {span})",
            "Put the agent on each memory span; `weaklink doctor` prints the line that does it.",
        ),
        "chain_depth_bounded": _Shows(
            f"depth > {rubric.max_depth}",
            "-depth",
            "{detail}, at {memory}",
            "Derive from the sources themselves, not from what was derived from them many times over.",
        ),
    }


def failing_traces(catalogue: duckdb.DuckDBPyConnection, rules: Rules, most: int) -> list[Failure]:
    """Tell the selected traces whose score is too low, the lowest first."""
    culprits = _culprits(rules.rubric)
    parameters = {"min_score": rules.min_score, "most": most, "rubric": rules.rubric.name}
    found = rows(catalogue, "failing_traces", parameters, culprits=culprits)
    worst = [_worst(row, culprits) for row in found]
    keys = {key for name, span in worst if (key := _key(name, span, culprits)) is not None}
    chains = ways(catalogue, keys)
    return [
        _failure(row, name, span, chains.get(_key(name, span, culprits) or 0, ()), rules)
        for row, (name, span) in zip(found, worst, strict=True)
    ]


def _worst(row: Mapping[str, Any], culprits: Mapping[str, _Shows]) -> tuple[str, Mapping[str, Any]]:
    """The heaviest check that failed, of equal ones one at which a memory is at fault, and the span that shows it."""

    def rank(check: Mapping[str, Any]) -> tuple[float, int]:
        name = check["name"]
        declares = (row.get(name) or {}).get("declared") is not None
        of_memory = name in culprits and culprits[name].of_memory
        return check["weight"], (2 if declares else 0) if of_memory else 1

    name = max(row["failed"], key=rank)["name"]
    return name, row.get(name) or {}


def _key(name: str, span: Mapping[str, Any], culprits: Mapping[str, _Shows]) -> int | None:
    key: int | None = span.get("version_key") if name in culprits and culprits[name].of_memory else None
    return key


def _failure(row: Mapping[str, Any], name: str, span: Mapping[str, Any], chain: Sequence[Hop], rules: Rules) -> Failure:
    shows = _culprits(rules.rubric).get(name)
    checks = tuple(Check(c["name"], c["detail"], -round(c["weight"] / row["weight"], 4)) for c in row["failed"])
    words = _words(name, next(c.detail for c in checks if c.name == name), span)
    return Failure(
        tier="3",
        trace_id=row["trace_id"],
        span_id=span.get("span_id") or row["span_id"],
        environment=row["environment"],
        service_name=row["service_name"],
        session_id=row["session_id"],
        agent_id=span.get("agent_id"),
        score=row["score"],
        declared_score=None,
        min_score=rules.min_score,
        checks=checks,
        memory_id=chain[-1].memory_id if chain else span.get("memory_id"),
        author=chain[-1].agent_id if chain else None,
        chain=tuple(chain),
        why=(shows.why if shows else "{check}: {detail}").format(**words) + ".",
        mend=(shows.mend if shows else "See what `{check}` means in the page on findings.").format(**words),
    )


def _words(name: str, detail: str, span: Mapping[str, Any]) -> dict[str, str]:
    declared = span.get("declared")
    return {
        "check": name,
        "detail": detail,
        "agent": span.get("agent_id") or "nobody known",
        "memory": span.get("memory_id") or "a record without an id",
        "operation": span.get("operation") or "operation",
        "span": span.get("span_id") or "",
        "declared": "no confidence" if declared is None else f"{declared:.2f}",
    }
