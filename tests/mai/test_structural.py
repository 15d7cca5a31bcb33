"""Tier 3 under weaklink's own rubrics."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis import RUBRICS, Rubric, RubricError, evaluate_from_memory_records, evaluate_structural
from weaklink_analysis.mai.rubrics import FINDING_CHECKS, STRICT, STRUCTURAL

GOOD = {"id": "m", "created_by": "a", "confidence": 0.9}


def span(verb: str, memory_id: str, *parents: str, environment: str = "", **carried: Any) -> dict[str, Any]:
    attributes = {
        "memledger.memory.operation": verb,
        "memledger.memory.id": memory_id,
        "memledger.memory.parent_ids": list(parents),
        **{f"memledger.memory.{key}": value for key, value in carried.items()},
    }
    resource = {"attributes": {"deployment.environment.name": environment}}
    return {"name": f"memledger.memory.{verb}", "attributes": attributes, "resource": resource}


def genai(operation: str, **carried: Any) -> dict[str, Any]:
    attributes = {key.replace("__", "."): value for key, value in carried.items()}
    return {"attributes": {"gen_ai.operation.name": operation, "gen_ai.agent.id": "a"} | attributes}


def depth(*spans: dict[str, Any]) -> int:
    (check,) = [c for c in evaluate_structural(spans).checks if c.check_name == "chain_depth_bounded"]
    return int(check.detail.removeprefix("Deepest chain: ").partition(" ")[0])


CHAINS = {
    "no parents": ([span("add", "a")], 0),
    "a parent that is not here": ([span("add", "a", "x")], 0),
    "in any order": ([span("add", "c", "b"), span("add", "a"), span("add", "b", "a")], 2),
    "the longest way counts": ([span("add", "c", "a", "b"), span("add", "b", "a"), span("add", "a")], 2),
    "a cycle reaches the cap": ([span("add", "a", "b"), span("add", "b", "a")], 6),
    "twelve are cut at six": ([span("add", f"m{n}", f"m{n - 1}") for n in range(13)], 6),
    "a memory is no parent of itself": ([span("add", "a", "a")], 0),
    "what a read shows counts": ([span("recall", "b", "a"), span("recall", "a")], 1),
    "unless the write is known": ([span("recall", "b", "a"), span("add", "b"), span("add", "a")], 0),
    "an outcome is no version": ([span("add", "b", "a"), span("outcome", "a")], 0),
    "environments do not mix": (
        [span("add", "a", environment="staging"), span("add", "b", "a", environment="production")], 0,
    ),
    "stores do not mix": (
        [
            genai("create_memory", gen_ai__memory__record__id="a", gen_ai__memory__store__id="one"),
            genai("create_memory", gen_ai__memory__record__id="b", memory__derived_from="a"),
        ],
        0,
    ),
    "an id beside several records is nobody's": (
        [
            genai("create_memory", gen_ai__memory__record__id="a", gen_ai__memory__records="[{}, {}]"),
            genai("create_memory", gen_ai__memory__record__id="b", memory__derived_from="a"),
        ],
        0,
    ),
    "one id is a list of one": (
        [
            genai("create_memory", gen_ai__memory__record__id="a"),
            genai("create_memory", gen_ai__memory__record__id="b", memory__derived_from="a"),
        ],
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHAINS)
def test_chains_are_rebuilt_by_id(case: str) -> None:
    """The depth is the longest chain among the memories written or read in the spans, capped at max_hops + 1."""
    spans, expected = CHAINS[case]
    assert depth(*spans) == expected


COUNTED = {
    "a memledger span": ([span("add", "a")], 1),
    "named by its name alone": ([{"name": "memledger.memory.add"}], 1),
    "a bare get": ([{"name": "memledger.get", "attributes": {"memledger.memory_id": "a"}}], 0),
    "a delete": ([genai("delete_memory", gen_ai__memory__record__id="a")], 0),
    "a store": ([genai("create_memory_store")], 0),
    "each record": ([genai("search_memory", gen_ai__memory__records='[{"id": "a"}, {"id": "b"}, 5]')], 2),
    "a search that names none": ([genai("search_memory")], 1),
    "a search that says there are none": ([genai("search_memory", gen_ai__memory__record__count=0)], 0),
    "a search that names one all the same": (
        [genai("search_memory", gen_ai__memory__record__count=0, gen_ai__memory__record__id="a")], 1,
    ),
    "and so in memledger's words": (
        [{"attributes": span("search", "a")["attributes"] | {"memledger.result_count": 0}}], 1,
    ),
    "a search with an empty list": ([genai("search_memory", gen_ai__memory__records=[])], 0),
    "a name that only ends so": ([{"name": "add", "attributes": {"memledger.memory.id": "a"}}], 0),
    "neither this nor that": ([{"name": "chat", "attributes": {"gen_ai.operation.name": "chat"}}, {}], 0),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTED)
def test_operations_are_counted(case: str) -> None:
    """Writes, reads, outcomes and lineage: once a record, once for a span that names none but for an empty search."""
    spans, expected = COUNTED[case]
    result = evaluate_structural(spans)
    assert result.span_count == len(spans) * bool(expected)
    assert [c.detail.split()[0] for c in result.checks[:1]] == [f"0/{expected}"] * bool(expected)


def test_a_record_is_described_by_its_metadata_first() -> None:
    """Then by the record itself, then by the span: that is how the GenAI convention is read."""
    record = {"id": "a", "confidence": 0.1, "metadata": '{"confidence": 0.9, "created_by": "x"}'}
    spans = [genai("search_memory", gen_ai__memory__records=[record], memory__confidence=0.2, gen_ai__agent__id="")]
    assert evaluate_structural(spans).score == 1.0
    del record["metadata"]
    assert evaluate_structural(spans).score == 0.3
    del record["confidence"]
    spans[0]["attributes"]["memory.confidence"] = "0.9"
    assert evaluate_structural(spans).score == 0.8


def test_nothing_to_judge_scores_nothing() -> None:
    """Without operations there are no checks, and nothing passes, as in the reference."""
    for result in (evaluate_structural([], 0.0), evaluate_from_memory_records([], 0.0)):
        assert (result.score, result.passed, result.checks, result.span_count) == (0.0, False, [], 0)


def test_the_verdict_is_taken_after_rounding() -> None:
    """Two thirds are 0.6667, and pass at that."""
    thirds = Rubric("thirds/1", "e", dict.fromkeys(list(STRUCTURAL.weights)[:3], 1.0))
    result = evaluate_from_memory_records([GOOD | {"created_by": ""}], 0.6667, rubric=thirds)
    assert (result.score, result.passed) == (0.6667, True)


LIMITS = [
    (GOOD | {"confidence": None}, 9, set()),
    (GOOD | {"confidence": None}, 8, {"confidence_populated"}),
    (GOOD | {"confidence": 0.59}, 7, set()),
    (GOOD | {"confidence": 0.59}, 6, {"confidence_above_threshold"}),
    (GOOD | {"created_by": "unknown"}, 9, set()),
    (GOOD | {"created_by": "unknown"}, 8, {"source_agent_present"}),
    (GOOD | {"confidence": 0.4}, 9, set()),
    (GOOD | {"confidence": 0.39}, 9, {"no_low_confidence_unhedged"}),
    (GOOD | {"confidence": 0.39, "hedged": True}, 9, set()),
]


@pytest.mark.parametrize(("other", "good", "expected"), LIMITS)
def test_checks_pass_from_their_limit_on(other: dict[str, object], good: int, expected: set[str]) -> None:
    """Of ten records so many are good: 90 %, 70 % and 90 % are enough; one low read without the hedge mark is not."""
    result = evaluate_from_memory_records([GOOD | {"confidence": 0.6}] * good + [other] * (10 - good))
    assert {check.check_name for check in result.checks if not check.passed} == expected


def test_limits_are_data() -> None:
    """A rubric's limits decide, and are named in the details."""
    strict = replace(STRUCTURAL, name="high/1", confident=0.95, max_depth=0)
    records = [GOOD, GOOD | {"id": "n", "derived_from": "m"}]
    result = evaluate_from_memory_records(records, rubric=strict)
    assert [c.detail for c in result.checks if not c.passed] == [
        "0% of memories have confidence >= 0.95",
        "Deepest chain: 1 derivations (limit: 0)",
    ]


def test_a_rubric_has_a_name_that_is_known() -> None:
    """A name stands for a built-in rubric; any other is refused, and the known ones are named."""
    assert evaluate_from_memory_records([GOOD], rubric="mai-structural/1") == evaluate_from_memory_records([GOOD])
    with pytest.raises(RubricError, match=r"'mai/9'; known are mai-structural/1, memledger/2.0, mai-structural-strict"):
        evaluate_structural([], rubric="mai/9")


def test_the_strict_rubric_weighs_findings() -> None:
    """Each code that was found fails its check; without any it scores 1; that none are known is an error."""
    with pytest.raises(RubricError, match="mai-structural-strict/1 weighs findings"):
        evaluate_from_memory_records([GOOD], rubric=STRICT.name)
    assert evaluate_from_memory_records([GOOD], rubric=STRICT.name, findings=()).score == 1.0
    found = evaluate_from_memory_records([GOOD], rubric=STRICT, findings=["cycle", "cycle", "missing_session", "other"])
    assert {c.check_name: c.detail for c in found.checks if not c.passed} == {
        "cycle": "2 findings",
        "missing_session": "1 findings",
    }
    assert found.score == round(12.7 / 13.3, 4)


@given(
    st.lists(st.fixed_dictionaries({"confidence": st.sampled_from([None, 0.1, 0.5, 0.9]), "created_by": st.just("")})),
    st.lists(st.sampled_from(FINDING_CHECKS)),
)
def test_strict_passes_nothing_that_the_plain_rubric_fails(records: list[dict[str, object]], codes: list[str]) -> None:
    """Findings only ever make it harder: their checks are too light to make good for one of the five."""
    strict = evaluate_from_memory_records(records, rubric=STRICT, findings=codes)
    assert strict.passed <= evaluate_from_memory_records(records).passed


def test_to_dict_is_the_reference_s_shape() -> None:
    """Plain data with the keys that memledger writes, in its order."""
    plain = evaluate_from_memory_records([GOOD]).to_dict()
    assert list(plain) == ["score", "passed", "threshold", "explanation", "span_count", "checks"]
    assert plain["checks"][3] == {
        "name": "chain_depth_bounded",
        "passed": True,
        "detail": "Deepest chain: 0 derivations (limit: 5)",
        "weight": 1.0,
    }


def test_the_built_in_rubrics_are_these() -> None:
    """Three, known by their names."""
    assert list(RUBRICS) == ["mai-structural/1", "memledger/2.0", "mai-structural-strict/1"]
