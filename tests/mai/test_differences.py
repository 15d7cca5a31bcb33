"""Where weaklink differs from memledger 2.0.1: each difference as it shows, and as docs/parity.md says."""

import re
import subprocess
import sys
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evaluators
import pytest

import weaklink_analysis

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"
GOOD = {"id": "m", "created_by": "a", "confidence": 0.9, "session_id": "s"}
SPAN = {"operation": "recall", "id": "m", "confidence": 0.9, "source_agent_id": "a"}


def tier_1(*records: dict[str, Any], chain: Any = None) -> tuple[float, float | None]:
    """weaklink's score and the reference's; None where it raises."""
    ours = weaklink_analysis.evaluate_attribution_integrity("d", [GOOD | record for record in records], chain)
    try:
        theirs = evaluators.evaluate_attribution_integrity("d", [GOOD | record for record in records], chain).score
    except TypeError:
        theirs = None
    return ours.score, theirs


def tier_3(*spans: dict[str, Any], rubric: str = "mai-structural/1") -> tuple[set[str], set[str] | None]:
    """The checks that fail by weaklink, and by the reference; None where it raises."""
    try:
        theirs = failed(evaluators.evaluate_structural(list(spans)))
    except (AttributeError, TypeError):
        theirs = None
    return failed(weaklink_analysis.evaluate_structural(spans, rubric=rubric)), theirs


def failed(result: Any) -> set[str]:
    return {check.check_name for check in result.checks if not check.passed} or (
        {"all"} if not result.checks else set()
    )


def span(name: str = "", **changes: Any) -> dict[str, Any]:
    """A memledger span that passes every check, but for the changes; None leaves an attribute out."""
    carried = {f"memledger.memory.{key}": value for key, value in (SPAN | changes).items() if value is not None}
    return {"name": name, "attributes": carried}


def test_zero_is_zero() -> None:
    """A memory of no confidence at all is the weakest there is; the reference takes its 0.0 for 0.5."""
    assert tier_1({"confidence": 0.0}) == (0.45, 0.85)


@pytest.mark.parametrize(("value", "theirs"), [(nan, 1.0), (1.7, 1.0), (True, 1.0), (-1, 0.0), ("high", None)])
def test_a_confidence_out_of_range_is_assumed(value: object, theirs: float | None) -> None:
    """What is no number from 0 to 1 counts as 0.5; the reference calculates with it, or raises."""
    assert tier_1({"confidence": value}) == (0.85, theirs)


def test_a_number_as_text_is_a_number() -> None:
    """Exporters that write every attribute as text lose nothing; the reference raises."""
    assert tier_1({"confidence": "0.9"}) == (1.0, None)


@pytest.mark.parametrize(("changes", "ours"), [({"created_by": "unknown"}, 0.6), ({"created_by": nan}, 0.6)])
def test_unknown_is_nobody(changes: dict[str, object], ours: float) -> None:
    """'unknown' and a data frame's NaN name no author; to the reference's Tier 1 they do."""
    assert tier_1(changes) == (ours, 1.0)


def test_unknown_is_no_session() -> None:
    """'unknown' names no session."""
    assert tier_1({"session_id": "unknown"}) == (0.85, 1.0)


@pytest.mark.parametrize("mark", ["false", "no", 1, nan])
def test_only_true_is_a_hedge(mark: object) -> None:
    """A hedge mark is true or the text `true`; to the reference the text `false` hedges too."""
    ours, theirs = tier_1({"confidence": 0.3, "hedged": mark})
    assert (ours, theirs) == (0.6, 0.85)
    assert tier_3(span(confidence=0.3, hedged=mark))[0] >= {"no_low_confidence_unhedged"}
    assert tier_1({"confidence": 0.3, "hedged": "true"}) == (0.85, 0.85)


@pytest.mark.parametrize(("shown", "theirs"), [(-1, 0.8), (None, None), ("low", None)])
def test_a_chain_without_a_valid_confidence_is_not_weak(shown: object, theirs: float | None) -> None:
    """The chain's min_confidence is read as a record's; there is nothing to assume where it says nothing."""
    assert tier_1({}, chain={"chain": ["hop"], "min_confidence": shown}) == (1.0, theirs)


def test_records_may_be_objects() -> None:
    """What `Memledger.search` returns can be scored as it is, and so can its AttributionChain."""
    record, chain = SimpleNamespace(**GOOD), SimpleNamespace(chain=["hop"], min_confidence=0.3, truncated=False)
    assert weaklink_analysis.evaluate_attribution_integrity("d", [record], chain).score == 0.8
    with pytest.raises(AttributeError):
        evaluators.evaluate_attribution_integrity("d", [record])


def test_no_value_of_a_record_raises() -> None:
    """An author that is a list is an author; the reference raises."""
    assert tier_1({"created_by": ["a"]}, {"created_by": ["b"]}) == (1.0, None)


@pytest.mark.parametrize("odd", ["text", None, 5])
def test_what_is_no_record_is_named(odd: object) -> None:
    """The message of the TypeError says which element it is; the reference's AttributeError does not."""
    with pytest.raises(TypeError, match=r"retrieved_memories\[1\] is no record"):
        weaklink_analysis.evaluate_attribution_integrity("d", [GOOD, odd])
    with pytest.raises(TypeError, match=r"records\[0\] is no record"):
        weaklink_analysis.evaluate_from_memory_records([odd])
    with pytest.raises(TypeError, match=r"trace_data\[0\] is no span"):
        weaklink_analysis.evaluate_structural([odd])  # type: ignore[list-item]


def test_scoring_sends_nothing() -> None:
    """The functions only calculate, and load no telemetry; the reference makes an EVALUATOR span of each call."""
    script = """
import sys, weaklink_analysis as w
w.evaluate_attribution_integrity("d", [{"id": "m"}]), w.evaluate_from_memory_records([{"id": "m"}])
loaded = {"opentelemetry", "duckdb", "pyarrow", "numpy", "jinja2"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("odd", [span(confidence="0.9"), span() | {"name": None, "attributes": None}])
def test_the_letter_never_raises(odd: dict[str, Any]) -> None:
    """Under memledger/2.0 a value that makes the reference raise counts as missing."""
    ours, theirs = tier_3(odd, rubric="memledger/2.0")
    assert theirs is None
    assert ours in ({"confidence_above_threshold"}, {"all"})


def test_only_valid_confidences_are_confidences() -> None:
    """A span with a confidence of 1.7 has none."""
    assert tier_3(span(confidence=1.7)) == ({"confidence_populated", "confidence_above_threshold"}, set())


def test_a_record_without_a_confidence_has_none() -> None:
    """A record that says none fails confidence_populated; the reference fills in 0.5, so that none can."""
    ours, theirs = (m.evaluate_from_memory_records([{"created_by": "a"}]) for m in (weaklink_analysis, evaluators))
    assert (failed(ours), failed(theirs)) == (
        {"confidence_populated", "confidence_above_threshold"},
        {"confidence_above_threshold"},
    )


def test_an_ingested_memory_is_judged() -> None:
    """`ingest` is a write like `add`; the reference does not look at its confidence."""
    assert tier_3(span(operation="ingest")) == (set(), {"confidence_above_threshold"})


def test_other_operations_do_not_count() -> None:
    """Counted are writes, reads, outcomes and lineage; the reference counts every span with such an attribute."""
    assert tier_3(span(), span(operation="delete", confidence=None)) == (set(), {"confidence_populated"})


def test_a_search_that_found_nothing_does_not_count() -> None:
    """There is no record whose confidence could be missing."""
    nothing = {"name": "memledger.memory.search", "attributes": {"memledger.result_count": 0}}
    assert tier_3(span(), nothing) == (set(), {"confidence_populated", "source_agent_present"})


def test_who_acts_is_an_agent_too() -> None:
    """`gen_ai.agent.id` and its like on the span itself say who it was."""
    acting = span(source_agent_id=None)
    acting["attributes"]["gen_ai.agent.id"] = "a"
    assert tier_3(acting) == (set(), {"source_agent_present"})


def test_the_depth_is_that_of_the_chain() -> None:
    """Six derivations in a row are too deep, six parents side by side are not; in the reference it is the reverse."""
    row = [span(id=f"m{n}", parent_ids=f'["m{n - 1}"]') for n in range(7)]
    fan = [span(id="m", parent_ids=[f"p{n}" for n in range(6)])]
    assert tier_3(*row) == ({"chain_depth_bounded"}, set())
    assert tier_3(*fan) == (set(), {"chain_depth_bounded"})


def test_each_record_of_a_span_counts() -> None:
    """A GenAI search counts once for each record that it names; the reference knows memledger's own attributes only."""
    records = [{"id": "a", "metadata": {"confidence": 0.9}}, {"id": "b"}]
    shown = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": records, "gen_ai.agent.id": "a"}
    ours = weaklink_analysis.evaluate_structural([{"attributes": shown}])
    assert ours.checks[0].detail == "1/2 operations have confidence (50%)"
    assert evaluators.evaluate_structural([{"attributes": shown}]).span_count == 0


def test_otlp_and_lines_are_read(tmp_path: Path) -> None:
    """A file may be OTLP JSON, and hold one JSON value a line; the reference finds no spans in it, or raises."""
    attributes = '[{"key": "memledger.memory.operation", "value": {"stringValue": "recall"}}]'
    request = f'{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"attributes": {attributes}}}]}}]}}]}}'
    one, two = tmp_path / "one.json", tmp_path / "two.jsonl"
    one.write_text(request)
    two.write_text(f"{request}\n{request}\n")
    assert [weaklink_analysis.evaluate_from_file(path).span_count for path in (one, two)] == [1, 2]
    assert evaluators.evaluate_from_file(str(one)).span_count == 0
    with pytest.raises(ValueError, match="Extra data"):
        evaluators.evaluate_from_file(str(two))


def test_every_difference_is_told() -> None:
    """docs/parity.md has a row for each test above, and for nothing else."""
    source = Path(__file__).read_text("utf-8")
    shown = set(re.findall(r"^def (test_\w+)", source, re.MULTILINE)) - {"test_every_difference_is_told"}
    assert set(re.findall(r"^\|.*\| `(test_\w+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)) == shown
