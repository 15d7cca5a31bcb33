"""MAI Tier 3: do spans carry what is needed to judge memory use at all?

The rubric says what is counted, how much each check weighs, and where its limits are. memledger 2.0.1's
`evaluate_structural` is the model; docs/parity.md lists the differences.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any, NamedTuple

from weaklink_analysis.mai.measures import Measures, measure_operations
from weaklink_analysis.mai.records import confidence, field, is_hedged, known, raw_confidence, require_record
from weaklink_analysis.mai.reference import measure_spans, span_of_record
from weaklink_analysis.mai.rubrics import STRUCTURAL, Rubric, RubricError, find_rubric
from weaklink_analysis.mai.spans import Operation, ids, operations, require_span, text


@dataclass(frozen=True, slots=True)
class StructuralCheckResult:
    """How one check came out."""

    check_name: str
    passed: bool
    detail: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class StructuralEvalResult:
    """A Tier 3 verdict. The score is in [0, 1], rounded to 4 places; the verdict was taken after rounding."""

    score: float
    passed: bool
    threshold: float = 0.7
    checks: list[StructuralCheckResult] = default(default_factory=list)
    explanation: str = ""
    span_count: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, as the reference writes them."""
        checks = [
            {"name": c.check_name, "passed": c.passed, "detail": c.detail, "weight": c.weight} for c in self.checks
        ]
        return {
            "score": self.score,
            "passed": self.passed,
            "threshold": self.threshold,
            "explanation": self.explanation,
            "span_count": self.span_count,
            "checks": checks,
        }


class _Outcome(NamedTuple):
    """What a check came to, before it is put into words: so many `of` so many, against a limit."""

    passed: bool
    found: int
    of: int = 0
    limit: float = 0


_CHECKS: dict[str, Callable[[Measures, Rubric], _Outcome]] = {
    "confidence_populated": lambda m, r: _share(m.with_confidence, m.counted, r.populated_share),
    "confidence_above_threshold": lambda m, r: _share(m.above, m.judged, r.confident_share)._replace(limit=r.confident),
    "source_agent_present": lambda m, r: _share(m.with_agent, m.counted, r.agent_share),
    "chain_depth_bounded": lambda m, r: _Outcome(m.deepest <= r.max_depth, m.deepest, limit=r.max_depth),
    "no_low_confidence_unhedged": lambda m, _: _Outcome(m.low_unhedged == 0, m.low_unhedged),
}

_WORDS = {
    "operations": {
        "confidence_populated": "{found}/{of} operations have confidence ({percent:.0f}%)",
        "confidence_above_threshold": "{percent:.0f}% of memories have confidence >= {limit}",
        "source_agent_present": "{found}/{of} operations have an agent ({percent:.0f}%)",
        "chain_depth_bounded": "Deepest chain: {found} derivations (limit: {limit})",
        "no_low_confidence_unhedged": "{found} low-confidence memories read without the hedge mark",
    },
    "spans": {
        "confidence_populated": "{found}/{of} spans have confidence ({share:.0%})",
        "confidence_above_threshold": "{share:.0%} of memories have confidence >= {limit}",
        "source_agent_present": "{found}/{of} spans have source_agent_id ({share:.0%})",
        "chain_depth_bounded": "Max observed chain depth: {found} (limit: {limit})",
        "no_low_confidence_unhedged": "{found} low-confidence memories retrieved without hedging flag",
    },
}
"""What each check says, by what is counted. Details are part of the reference's result."""


def evaluate_structural(
    trace_data: Sequence[Mapping[str, Any]],
    threshold: float = 0.7,
    *,
    rubric: str | Rubric = STRUCTURAL,
    findings: Iterable[str] | None = None,
) -> StructuralEvalResult:
    """Score what spans carry about memory (MAI Tier 3).

    Args:
        trace_data: Spans: mappings with `name` and `attributes` (a flat mapping), and perhaps `resource`; or the
            attributes alone.
        threshold: The score from which they pass.
        rubric: A rubric, or the name of a built-in one.
        findings: For a rubric that weighs findings: the codes that were found, once for each finding (the view
            `findings` has them). Spans alone do not tell.

    Returns:
        The result; score 0.0, not passed and no checks where no span is a memory operation.

    Raises:
        TypeError: An element of `trace_data` is no span.
        RubricError: No rubric has this name, or it weighs findings and none are given (give () for no findings).
    """
    judge = _judge_by(rubric, findings)
    spans = list(trace_data or ())
    for place, span in enumerate(spans):
        require_span(span, f"trace_data[{place}]")
    if judge.rubric.counting == "spans":
        return judge(measure_spans(spans, judge.rubric), threshold)
    return judge(measure_operations([operations(span) for span in spans], judge.rubric), threshold)


def evaluate_from_memory_records(
    records: Sequence[Any],
    threshold: float = 0.7,
    *,
    rubric: str | Rubric = STRUCTURAL,
    findings: Iterable[str] | None = None,
) -> StructuralEvalResult:
    """Score memory records as if a read had returned each of them (MAI Tier 3).

    `records` are mappings or objects: id, created_by, confidence (else importance), derived_from, hedged. What is not
    said counts as missing. The rest is as for `evaluate_structural`.
    """
    judge = _judge_by(rubric, findings)
    shown = list(records or ())
    for place, record in enumerate(shown):
        require_record(record, f"records[{place}]")
    if judge.rubric.counting == "spans":
        return judge(measure_spans(map(span_of_record, shown), judge.rubric), threshold)
    return judge(measure_operations([[_read_of(record)] for record in shown], judge.rubric), threshold)


def _read_of(record: Any) -> Operation:
    memory_id = text(field(record, "id"))
    return Operation(
        kind="read",
        memory=("", "", memory_id) if memory_id else None,
        confidence=confidence(raw_confidence(record)),
        has_agent=known(field(record, "created_by")) is not None,
        hedged=is_hedged(field(record, "hedged")),
        parents=frozenset(("", "", parent) for parent in ids(field(record, "derived_from"), bare=True)),
    )


class _Judge(NamedTuple):
    """A rubric, with the findings that it weighs."""

    rubric: Rubric
    findings: Counter[str]

    def __call__(self, measures: Measures, threshold: float) -> StructuralEvalResult:
        if not measures.counted:
            return StructuralEvalResult(0.0, False, threshold, explanation="No memory spans found in trace data.")
        checks = [self._check(name, weight, measures) for name, weight in self.rubric.weights.items()]
        passed, failed = ([c for c in checks if c.passed is wanted] for wanted in (True, False))
        score = round(sum(c.weight for c in passed) / sum(c.weight for c in checks), 4)
        said = {
            f"Passed ({len(passed)}/{len(checks)})": ", ".join(c.check_name for c in passed),
            f"Failed ({len(failed)}/{len(checks)})": "; ".join(f"{c.check_name} — {c.detail}" for c in failed),
        }
        return StructuralEvalResult(
            score=score,
            passed=score >= threshold,
            threshold=threshold,
            checks=checks,
            explanation=". ".join(f"{outcome}: {names}" for outcome, names in said.items() if names),
            span_count=measures.spans,
        )

    def _check(self, name: str, weight: float, measures: Measures) -> StructuralCheckResult:
        if name in self.rubric.findings:
            found = self.findings[name]
            return StructuralCheckResult(name, found == 0, f"{found} findings", weight)
        passed, found, of, limit = _CHECKS[name](measures, self.rubric)
        share, percent = (found / of, 100 * found / of) if of else (0.0, 0.0)
        words = _WORDS[self.rubric.counting][name]
        detail = words.format(found=found, of=of, share=share, percent=percent, limit=limit)
        return StructuralCheckResult(name, passed, detail, weight)


def _judge_by(rubric: str | Rubric, findings: Iterable[str] | None) -> _Judge:
    wanted = find_rubric(rubric)
    if wanted.findings and findings is None:
        codes = ", ".join(wanted.findings)
        raise RubricError([f"findings: {wanted.name} weighs findings, give the codes that were found: {codes}"])
    return _Judge(wanted, Counter(findings or ()))


def _share(count: int, of: int, at_least: float) -> _Outcome:
    return _Outcome(bool(of) and count / of >= at_least, count, of)
