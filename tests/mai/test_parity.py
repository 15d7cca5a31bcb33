"""weaklink beside the real memledger 2.0.1: score, verdict and each detail, on odd values of every kind."""

import inspect
import json
from collections.abc import Iterable, Mapping
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import evaluators
import pytest

import weaklink_analysis
from mai.generated import as_json, record_sets, span_sets

SETS = 5_000
LETTER = "memledger/2.0"


def attribution(result: Any) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("score", "passed", "threshold", "details", "explanation")}


def structural(result: Any) -> dict[str, Any]:
    return {**result.to_dict(), "exact_score": result.score, "checks": [vars_of(check) for check in result.checks]}


def vars_of(check: Any) -> tuple[str, bool, str, float]:
    return (check.check_name, check.passed, check.detail, check.weight)


def theirs_or_none(function: str, *arguments: object) -> dict[str, Any] | None:
    """What the reference says; None where it raises."""
    try:
        return structural(getattr(evaluators, function)(*arguments))
    except (AttributeError, TypeError, RecursionError):
        return None


@pytest.mark.parametrize("read_otherwise", [False, True])
def test_tier_1_is_the_reference_s(read_otherwise: bool) -> None:  # noqa: FBT001 - a parameter of the case
    """On 5,000 record sets everything is equal, where a value is read otherwise to what the reference says of that."""
    for pair in islice(record_sets(1, read_otherwise=read_otherwise), SETS):
        (records, chain, threshold), given = pair.ours, pair.theirs
        ours = attribution(weaklink_analysis.evaluate_attribution_integrity("d", records, chain, threshold))
        theirs = attribution(evaluators.evaluate_attribution_integrity("d", *given))
        if read_otherwise and chain:  # it is shown as it came
            theirs["details"].pop("chain_min_confidence", None)
            ours["details"].pop("chain_min_confidence", None)
        assert ours == theirs, as_json(pair.ours)


def by_the_letter(name: str, calls: Iterable[tuple[Any, float]]) -> None:
    """A function's answers equal the reference's, on as many sets as it has an answer for."""
    compared = 0
    for data, threshold in calls:
        ours = structural(getattr(weaklink_analysis, name)(data, threshold, rubric=LETTER))
        theirs = theirs_or_none(name, data, threshold)
        assert theirs in (None, ours), as_json(data)
        compared += theirs is not None
        if compared == SETS:
            return
    pytest.fail(f"only {compared} sets were compared")


def test_tier_3_by_the_letter_is_the_reference_s() -> None:
    """On 5,000 span sets that the reference has an answer for, everything is equal; the others raise nothing here."""
    by_the_letter("evaluate_structural", span_sets(2))


def test_tier_3_of_records_by_the_letter_is_the_reference_s() -> None:
    """The same for record sets."""
    pairs = (pair.ours for pair in record_sets(3, read_otherwise=True))
    by_the_letter("evaluate_from_memory_records", ((records, threshold) for records, _, threshold in pairs))


def test_every_share_up_to_forty_records_is_the_reference_s() -> None:
    """So many good records of so many: each check passes from the same share on, and shows the same percentage."""
    good = {"created_by": "a", "confidence": 0.6}
    for count in range(1, 41):
        for share in range(count + 1):
            records = [good] * share + [{"confidence": None}] * (count - share)
            spans = [{f"memledger.memory.{key}": value for key, value in span_of(record).items()} for record in records]
            ours = structural(weaklink_analysis.evaluate_structural(spans, rubric=LETTER))
            assert ours == theirs_or_none("evaluate_structural", spans), (share, count)


def span_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """An added record's attributes; what is None is not there."""
    carried = {
        "operation": "add",
        "confidence": record["confidence"],
        "source_agent_id": record.get("created_by"),
    }
    return {key: value for key, value in carried.items() if value is not None}


@pytest.mark.parametrize("wrapping", ["{}", '{{"spans": {}}}', '{{"data": {}, "next": null}}'])
def test_a_file_by_the_letter_is_the_reference_s(tmp_path: Path, wrapping: str) -> None:
    """Each form of file that the reference takes comes to the same."""
    file = tmp_path / "spans.json"
    compared = 0
    for spans, threshold in islice(span_sets(4), 200):
        file.write_text(wrapping.format(json.dumps(spans)))
        theirs = theirs_or_none("evaluate_from_file", str(file), threshold)
        ours = structural(weaklink_analysis.evaluate_from_file(str(file), threshold, rubric=LETTER))
        assert theirs in (None, ours), as_json(spans)
        compared += theirs is not None
    assert compared > 100


def both_tiers_agree(records: list[dict[str, Any]], threshold: float = 0.7) -> None:
    """Raise if weaklink differs from the reference on the records."""
    ours = weaklink_analysis.evaluate_attribution_integrity("d", records, threshold=threshold)
    assert attribution(ours) == attribution(
        evaluators.evaluate_attribution_integrity("d", records, threshold=threshold)
    )
    letter = weaklink_analysis.evaluate_from_memory_records(records, threshold, rubric=LETTER)
    assert structural(letter) == theirs_or_none("evaluate_from_memory_records", records, threshold)


def test_the_calibration_set_scores_as_in_the_reference() -> None:
    """All thirty labelled cases that memledger ships, in both tiers."""
    lines = resources.files("evaluators.calibration").joinpath("dataset.jsonl").read_text("utf-8").splitlines()
    cases: list[Mapping[str, Any]] = [json.loads(line) for line in lines]
    assert len(cases) == 30
    for case in cases:
        both_tiers_agree(case["retrieved_memories"])


GOOD = {"id": "m1", "content": "x", "created_by": "agent-a", "confidence": 0.9, "session_id": "s1", "derived_from": []}
CASES: dict[str, list[dict[str, Any]]] = {
    "one good record": [{}],
    "none": [],
    "two good records": [{"id": "a"}, {"id": "b", "created_by": "agent-b", "confidence": 0.85}],
    "one without an author": [{"id": "a"}, {"id": "b", "created_by": None}],
    "both with theirs": [{"id": "a"}, {"id": "b", "created_by": "agent-b"}],
    "low and not hedged": [{"confidence": 0.2, "hedged": False}],
    "two without an agent": [{"id": "a", "created_by": ""}, {"id": "b", "created_by": ""}],
    "a derived record without a session": [
        {"id": "a", "confidence": 0.8, "session_id": None},
        {"id": "b", "created_by": "agent-b", "confidence": 0.7, "derived_from": ["a"], "session_id": None},
    ],
}
"""The inputs of memledger's own unit tests of the two tiers, as differences from GOOD."""


@pytest.mark.parametrize("threshold", [0.0, 0.7, 0.71])
@pytest.mark.parametrize("case", CASES)
def test_the_reference_s_own_cases_come_out_the_same(case: str, threshold: float) -> None:
    """What memledger tests itself with, in both tiers, at the thresholds that it tries."""
    both_tiers_agree([GOOD | {"hedged": False} | changes for changes in CASES[case]], threshold)
    both_tiers_agree([GOOD | changes for changes in CASES[case]], threshold)


def positional(function: Any) -> list[tuple[str, str]]:
    """Names and defaults of what can be given by place."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, str(p.default)) for p in found if p.kind is not inspect.Parameter.KEYWORD_ONLY]


@pytest.mark.parametrize(
    "name",
    [
        "evaluate_attribution_integrity",
        "evaluate_structural",
        "evaluate_from_memory_records",
        "evaluate_from_file",
        "AttributionIntegrityResult",
        "StructuralEvalResult",
        "StructuralCheckResult",
    ],
)
def test_names_arguments_and_defaults_are_the_reference_s(name: str) -> None:
    """Code written for memledger's evaluators runs with the import changed: what weaklink adds is by keyword only."""
    ours, theirs = (getattr(module, name) for module in (weaklink_analysis, evaluators))
    assert positional(ours) == positional(theirs)
