"""The SQL models and the scalar functions are two ways to one verdict."""

import json
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple, Self

import pytest

from engine_harness import Analysis
from otlp import S, Value
from weaklink_analysis import ATTRIBUTION, ReliedOn, evaluate_decision, evaluate_structural
from weaklink_analysis.mai.attribution import Attribution
from weaklink_analysis.mai.rubrics import MEMLEDGER, STRUCTURAL, Rubric
from weaklink_analysis.operations import Settings

TRACES = 5_000


def memledger(random: Random, memory: str, parents: list[str]) -> dict[str, Value]:
    carried: dict[str, list[Value]] = {
        "operation": ["add", "ingest", "search", "recall", "outcome", "lineage", "delete"],
        "confidence": [0.0, 0.3, 0.4, 0.6, 0.9, 1, "0.9", "high", float("nan"), 1.7, True, ""],
        "source_agent_id": ["a", "a", "a", "", "unknown"],
        "hedged": [True, False, "true", "false", 1],
        "session_id": ["s", ""],
    }
    drawn: dict[str, Value] = {key: random.choice(values) for key, values in carried.items() if random.random() < 0.9}
    if random.random() < 0.8:
        drawn["id"] = memory
        drawn["parent_ids"] = "[" + ", ".join(f'"{parent}"' for parent in parents) + "]"
    return {f"memledger.memory.{key}": value for key, value in drawn.items()}


def genai(random: Random, memory: str, parents: list[str]) -> dict[str, Value]:
    places: tuple[dict[str, Any], dict[str, Any]] = ({}, {"id": memory})
    said: dict[str, list[Any]] = {
        "confidence": [0.0, 0.3, 0.6, 0.9, "0.9", "high", True, None],
        "created_by": ["a", "", "unknown", None],
        "hedged": [True, False, "true", "false", None],
        "derived_from": [parents],
    }
    for key, values in said.items():
        random.choice(places)[key] = random.choice(values)
    metadata, record = places
    record["metadata"] = random.choice([metadata, json.dumps(metadata)])
    records = random.choice([[record], [record, {"id": f"{memory}-too"}], [record, 5], [], ["m1", "m2"]])
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": random.choice(["create_memory", "upsert_memory", "search_memory", "delete_memory"]),
        "gen_ai.agent.id": random.choice(["", "a"]),
    }
    if random.random() < 0.9:
        attributes["gen_ai.memory.records"] = json.dumps(records)
    if random.random() < 0.3:
        attributes["memory.confidence"] = random.choice(["0.9", "0.2", "x"])
    return attributes


def trace(random: Random, number: int) -> list[S]:
    """Each memory is written or read once, after its parents: so ids tell what versions tell."""
    spans, known = [S(number, 99, "agent")], list[str]()
    for place in range(random.randint(1, 9)):
        memory = f"m{number}-{place}"
        parents = random.sample(known, min(len(known), random.randint(0, 2)))
        make = random.choice([memledger, memledger, genai])
        name = random.choice(["memledger.memory.recall", "memledger.memory.add", "memledger.get", "op"])
        attributes = make(random, memory, parents)
        spans.append(S(number, place + 1, name, parent=99, start=place, end=place, attributes=attributes))
        known.append(memory)
    return spans


def as_mapping(span: S) -> dict[str, Any]:
    return {"name": span.name, "attributes": span.attributes, "resource": {"attributes": {"service.name": "svc"}}}


class Judged(NamedTuple):
    """Traces, and what the engine's views say of them."""

    traces: dict[int, list[S]]
    evaluations: list[dict[str, Any]]
    decisions: list[dict[str, Any]]
    versions: dict[tuple[object, ...], dict[str, Any]]

    @classmethod
    def of(cls, traces: dict[int, list[S]], attribution: Attribution = ATTRIBUTION) -> Self:
        """Feed them to an engine that knows all rubrics, and read the views."""
        assumed, threshold = attribution.assumed_confidence, attribution.threshold
        numbers = Settings(assumed_confidence=assumed, pass_threshold=threshold, attribution=attribution)
        with Analysis(replace(numbers, rubrics=RUBRICS)) as analysis:
            analysis.feed([span for spans in traces.values() for span in spans])
            analysis.evaluate()
            evaluations, decisions = analysis.view("evaluations"), analysis.table("decisions")
            identity = ("memory_id", "store", "environment", "version")
            versions = {tuple(row[key] for key in identity): row for row in analysis.table("memory_versions")}
        return cls(traces, evaluations, decisions, versions)

    def structural(self, rubric: Rubric) -> dict[int, dict[str, object]]:
        """The engine's structural verdicts on traces by this rubric."""
        rows = [row for row in self.evaluations if (row["scope"], row["rubric"]) == ("trace", rubric.name)]
        return {int(row["trace_id"], 16): {field: row[field] for field in FIELDS} for row in rows}


FIELDS = ("score", "passed", "span_count", "explanation")
OWN = Rubric(
    "own/1",
    "own_structural",
    {"source_agent_present": 1.0, "confidence_above_threshold": 0.3, "no_low_confidence_unhedged": 7.0},
    confident=0.4,
    confident_share=1 / 3,
    missing_confidence=0.4,
    agent_share=0.5,
    low=0.35,
)
RUBRICS = (STRUCTURAL, MEMLEDGER, OWN)
OWN_ATTRIBUTION = Attribution(
    name="own-attribution/1",
    threshold=0.8,
    low=0.35,
    confident=0.65,
    assumed_confidence=0.3,
    session_share=0.75,
    authors=1,
    unattributed=0.3,
    low_unhedged=0.2,
    flagged_unhedged=0.15,
    mean_shortfall=0.7,
    without_session=0.25,
    weak_chain=0.1,
    truncated_chain=0.15,
    corroborated=0.01,
)
"""No number of it is the built-in one."""


@pytest.fixture(scope="module")
def judged() -> Judged:
    """All the traces in one engine."""
    random = Random(5)
    return Judged.of({number: trace(random, number) for number in range(1, TRACES + 1)})


def scored(traces: dict[int, list[S]], rubric: Rubric) -> dict[int, dict[str, object]]:
    """The function's verdicts on traces that have operations."""
    results = {
        n: evaluate_structural([as_mapping(span) for span in spans], rubric=rubric) for n, spans in traces.items()
    }
    return {n: {field: getattr(result, field) for field in FIELDS} for n, result in results.items() if result.checks}


def differing(ours: dict[int, Any], theirs: dict[int, Any]) -> dict[int, tuple[object, object]]:
    """Where two verdicts are not the same, with both."""
    return {n: (ours.get(n), theirs.get(n)) for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n)}


@pytest.mark.parametrize("rubric", [STRUCTURAL, OWN], ids=lambda rubric: rubric.name)
def test_sql_and_the_scalar_function_agree(judged: Judged, rubric: Rubric) -> None:
    """On 5,000 traces: which have an evaluation, its score, its verdict, and what is said of each check."""
    assert differing(judged.structural(rubric), scored(judged.traces, rubric)) == {}


def test_they_agree_where_spans_are_counted_as_by_the_reference(judged: Judged) -> None:
    """By memledger/2.0 too, but for the words; the models know of a value its text only, so that is a number or a mark
    where it spells one."""

    def spelt(key: str, value: Value) -> Value:
        if key.endswith(".hedged"):
            return value is True or value == "true"
        return 0.9 if value == "0.9" else value

    traces = {
        number: [replace(s, attributes={k: spelt(k, v) for k, v in s.attributes.items()}) for s in spans]
        for number, spans in judged.traces.items()
    }
    ours, theirs = judged.structural(MEMLEDGER), scored(traces, MEMLEDGER)
    for verdict in (*ours.values(), *theirs.values()):
        del verdict["explanation"]
    assert differing(ours, theirs) == {}


@pytest.mark.parametrize("attribution", [ATTRIBUTION, OWN_ATTRIBUTION], ids=lambda attribution: attribution.name)
def test_sql_and_the_scalar_function_agree_on_decisions(judged: Judged, attribution: Attribution) -> None:
    """On every decision in them, or in each tenth where all numbers are one's own: score and score_effective, the
    verdict, and which are not evaluable."""
    share = 1
    if attribution is not ATTRIBUTION:
        share, some = 10, {number: spans for number, spans in judged.traces.items() if number % 10 == 0}
        judged = Judged.of(some, attribution)
    rows = [row for row in judged.evaluations if row["scope"] == "decision"]
    ours = {n: (row["score"], row["score_effective"], row["passed"]) for n, row in by_trace(rows).items()}
    decisions = by_trace(judged.decisions)
    theirs = {number: verdict(judged, decision, attribution) for number, decision in decisions.items()}
    assert differing(ours, theirs) == {}
    assert {row["rubric"] for row in rows} == {attribution.name}
    assert len(ours) > TRACES / share / 2
    assert len({score for score, _, _ in ours.values()}) > 50
    assert any(score != effective for score, effective, _ in ours.values())


def by_trace(rows: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    return {int(row["trace_id"], 16): row for row in rows}


def verdict(judged: Judged, decision: dict[str, Any], attribution: Attribution) -> tuple[object, ...]:
    """What the function says of a decision as the views tell of it."""

    def relied(record: dict[str, Any]) -> ReliedOn:
        version = judged.versions.get(tuple(record.values()))
        if version is None:
            return ReliedOn(attribution.assumed_confidence, attribution.assumed_confidence)
        return ReliedOn(
            version["declared_confidence"],
            version["effective_confidence"],
            version["agent_id"],
            version["session_id"] is not None,
            version["hedged"],
        )

    own = judged.versions.get(tuple(decision["memory"].values())) if decision["memory"] else None
    records = [relied(record) for record in decision["records"]]
    effective, truncated = (own["effective_confidence"], own["chain_truncated"]) if own else (None, False)
    declared, bounded = (
        evaluate_decision(
            records,
            effective,
            truncated=truncated,
            effective=which,
            threshold=attribution.threshold,
            attribution=attribution,
        )
        for which in (False, True)
    )
    return (declared.score, bounded.score, declared.passed) if declared and bounded else (None, None, None)


def test_a_genai_search_that_names_nothing_counts_in_both() -> None:
    """It does not say that it found nothing, so it is the gap that Tier 3 is there to show."""
    attributes: dict[str, Value] = {"gen_ai.operation.name": "search_memory", "gen_ai.agent.id": "a"}
    traces = {1: [S(1, 1, attributes=attributes)]}
    assert differing(Judged.of(traces).structural(STRUCTURAL), scored(traces, STRUCTURAL)) == {}
