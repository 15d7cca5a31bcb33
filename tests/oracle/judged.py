"""Evaluations of decisions, traces and sessions."""

from collections.abc import Iterator, Sequence

from oracle.operations import SESSION, Op
from oracle.values import Row
from oracle.versions import Decision
from oracle.world import Oracle

TIER_1, TIER_3 = "memory_attribution_integrity", "memory_attribution_integrity_structural"
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
