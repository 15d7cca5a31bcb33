"""Tier 3: what a trace's spans carry, and the revisions that follow from its changes."""

import json
from typing import Any, cast

import pytest

from engine_harness import Analysis
from evaluations import values
from otlp import S, Value, read, write
from weaklink_analysis.mai.rubrics import STRICT, STRUCTURAL
from weaklink_analysis.operations import Settings


def evaluations(analysis: Analysis) -> list[dict[str, Any]]:
    """Those of traces."""
    return [row for row in analysis.view("evaluations") if row["scope"] == "trace"]


def checks(analysis: Analysis) -> dict[str, bool]:
    """Verdicts by check of trace 1."""
    rows = analysis.table("evaluations")
    (row,) = (row for row in rows if row["trace_id"] == f"{1:032x}" and row["scope"] == "trace")
    return {check["name"]: check["passed"] for check in cast("list[dict[str, Any]]", row["checks"])}


def search(trace: int, span: int, **attributes: str | int) -> S:
    """A memledger search, which names no record."""
    named: dict[str, Value] = {f"memledger.{key}": value for key, value in attributes.items()}
    named["memledger.memory.operation"] = "search"
    return S(trace, span, "memledger.memory.search", attributes=named)


CASES = {
    "all is well": ([write(1, 1, "m", 0.9, 1), read(1, 2, "m", 0.9, 2)], 1.0, set()),
    "nine of ten carry a confidence": (
        [write(1, n, f"m{n}", None if n == 1 else 0.9, n) for n in range(1, 11)], 1.0, set(),
    ),
    "eight of ten do not do": (
        [write(1, n, f"m{n}", None if n <= 2 else 0.9, n) for n in range(1, 11)], 0.8, {"confidence_populated"},
    ),
    "a missing confidence counts as 0.5": (
        [write(1, n, f"m{n}", None, n) for n in (1, 2)], 0.6, {"confidence_populated", "confidence_above_threshold"},
    ),
    "an agent that was inherited is not carried": (
        [S(1, 9, attributes={"gen_ai.agent.id": "a"}), write(1, 1, "m", 0.9, 1, agent="", parent=9)],
        0.8, {"source_agent_present"},
    ),
    "a low read without the hedge mark": (
        [write(1, 1, "m", 0.3, 1), read(1, 2, "m", 0.3, 2)],
        0.5, {"confidence_above_threshold", "no_low_confidence_unhedged"},
    ),
    "a low read with it": (
        [write(1, 1, "m", 0.3, 1), read(1, 2, "m", 0.3, 2, hedged=True)], 0.8, {"confidence_above_threshold"},
    ),
    "a low write is not a read": ([write(1, 1, "m", 0.3, 1)], 0.8, {"confidence_above_threshold"}),
    "five derivations deep": (
        [write(1, n + 1, f"m{n}", 0.9, n, parents=[f"m{n - 1}"] if n else []) for n in range(6)], 1.0, set(),
    ),
    "six are too deep": (
        [write(1, n + 1, f"m{n}", 0.9, n, parents=[f"m{n - 1}"] if n else []) for n in range(7)],
        0.9, {"chain_depth_bounded"},
    ),
    "a search that names no record is a gap": (
        [search(1, 1)], 0.4, {"confidence_populated", "confidence_above_threshold", "source_agent_present"},
    ),
    "a search that found none is none": ([write(1, 1, "m", 0.9, 1), search(1, 2, result_count=0)], 1.0, set()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_checks_and_score(analysis: Analysis, case: str) -> None:
    """Each check passes at its limit and fails beyond it; the score is the share of weight that passed."""
    spans, score, failed = CASES[case]
    analysis.feed(spans)
    analysis.evaluate()
    (evaluation,) = evaluations(analysis)
    assert {name for name, passed in checks(analysis).items() if not passed} == failed
    assert (evaluation["score"], evaluation["passed"]) == (score, score >= 0.7)


@pytest.mark.parametrize("spans", [[S(1, 1)], [S(1, 1, "memledger.get", attributes={"memledger.memory_id": "m"})]])
def test_a_trace_without_operations_has_no_evaluation(analysis: Analysis, spans: list[S]) -> None:
    """Nor has one with bare gets only, which the reference does not look at."""
    analysis.feed(spans)
    analysis.evaluate()
    assert evaluations(analysis) == []


def revisions(analysis: Analysis) -> list[tuple[object, ...]]:
    """What is new of traces."""
    rows = analysis.engine.revisions().to_pylist()
    return [(row["trace_id"], row["revision"], row["passed"]) for row in rows if row["scope"] == "trace"]


def test_a_revision_is_made_exactly_when_a_verdict_changes(analysis: Analysis) -> None:
    """A late span that changes no verdict brings the evaluation up to date without a revision."""
    analysis.feed([write(1, 1, "m", 0.9, 1)])
    analysis.evaluate()
    assert revisions(analysis) == [(f"{1:032x}", 1, True)]
    analysis.feed([write(1, 2, "n", 0.9, 2)])
    analysis.evaluate()
    assert revisions(analysis) == []
    assert [row["span_count"] for row in evaluations(analysis)] == [2]
    analysis.feed([read(1, 3, "n", 0.2, 3)])
    analysis.evaluate()
    assert revisions(analysis) == [(f"{1:032x}", 2, False)]


def test_a_change_from_another_trace_makes_a_revision(analysis: Analysis) -> None:
    """A chain that another trace's late span makes too deep is judged again where it was judged before."""
    chain = [write(1, n + 1, f"m{n}", 0.9, n, parents=[f"m{n - 1}"]) for n in range(1, 7)]
    analysis.feed(chain)
    analysis.evaluate()
    assert checks(analysis)["chain_depth_bounded"]
    analysis.feed([write(2, 1, "m0", 0.9, 0)])
    analysis.evaluate()
    assert revisions(analysis) == [(f"{1:032x}", 2, True), (f"{2:032x}", 1, True)]
    assert not all(checks(analysis).values())


def test_a_target_that_ceases_to_be_one_gets_a_last_revision(analysis: Analysis) -> None:
    """When a later copy of its only memory span names no operation, the trace's scores become null, and it has no
    evaluation any more: only the history tells of it."""
    analysis.feed([write(1, 1, "m", 0.9, 1)])
    analysis.evaluate()
    analysis.feed([S(1, 1, end=9)])
    analysis.evaluate()
    assert revisions(analysis) == [(f"{1:032x}", 2, None)]
    assert evaluations(analysis) == []
    (last,) = values(analysis.engine.revised(["trace"]))
    assert (last.score, last.passed, last.label) == (None, None, "not_evaluable")
    assert json.loads(last.metadata or "")["checks"] == []
    assert last.explanation == "The trace has no memory operations any more."
    analysis.feed([write(1, 1, "m", 0.9, 12)])
    analysis.evaluate()
    assert revisions(analysis) == [(f"{1:032x}", 3, True)]


def test_the_metadata_is_json_that_carries_the_checks(analysis: Analysis) -> None:
    """What is told of a verdict and has no attribute of its own, the checks in words among it."""
    analysis.feed([write(1, 1, "m", None, 1), write(1, 2, "n", 0.9, 2)])
    analysis.evaluate()
    (told,) = values(analysis.engine.revised(["trace"]))
    metadata = json.loads(told.metadata or "")
    checks = metadata.pop("checks")
    assert metadata == {
        "rubric": "mai-structural/1", "scope": "trace", "revision": 1, "threshold": 0.7, "score_effective": None,
        "span_count": 2,
    }  # fmt: skip
    assert checks[0] == {
        "name": "confidence_populated", "passed": False, "weight": 2.0,
        "detail": "1/2 operations have confidence (50%)",
    }  # fmt: skip
    assert told.record_ids == "m,n"


def test_the_target_is_the_root_once_it_is_seen(analysis: Analysis) -> None:
    """Until then it is the earliest span; that it moves makes no revision."""
    analysis.feed([write(1, 5, "m", 0.9, 2, parent=1), write(1, 6, "n", 0.9, 1, parent=1)])
    analysis.evaluate()
    assert [row["span_id"] for row in evaluations(analysis)] == [f"{6:016x}"]
    analysis.feed([S(1, 1, start=0, end=3)])
    analysis.evaluate()
    assert revisions(analysis) == []
    assert [row["span_id"] for row in evaluations(analysis)] == [f"{1:016x}"]


def test_a_cycle_is_seen_from_each_trace_on_it() -> None:
    """Also when a trace is judged alone, and another that was judged before has the derivation that shows the cycle."""
    with Analysis(Settings(rubrics=(STRUCTURAL, STRICT))) as analysis:
        analysis.feed([write(1, 1, "a", 0.9, 1, parents=["b"]), write(2, 1, "b", 0.9, 2, parents=["a"])])
        analysis.evaluate()
        analysis.feed([write(2, 2, "late", 0.9, 3)])
        analysis.evaluate()
        found = [
            (int(str(row["trace_id"]), 16), check["found"])
            for row in analysis.table("evaluations")
            if row["scope"] == "trace" and row["rubric"] == STRICT.name
            for check in cast("list[dict[str, Any]]", row["checks"])
            if check["name"] == "cycle"
        ]
    assert sorted(found) == [(1, 1), (2, 1)]
