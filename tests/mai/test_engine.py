"""The SQL models and the scalar functions are two ways to one verdict."""

import json
from random import Random
from typing import Any

from engine_harness import Analysis
from otlp import S, Value
from weaklink_analysis import evaluate_structural

TRACES = 400


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
    records = random.choice([[record], [record, {"id": f"{memory}-too"}], [record, 5], []])
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


def differing(traces: dict[int, list[S]]) -> dict[int, tuple[object, object]]:
    """The traces on which the engine's verdict and the function's are not the same, with both."""
    with Analysis() as analysis:
        analysis.feed([span for spans in traces.values() for span in spans])
        analysis.evaluate()
        rows = {int(str(row["trace_id"]), 16): row for row in analysis.view("evaluations") if row["scope"] == "trace"}
    fields = ("score", "passed", "span_count", "explanation")
    stored = {number: {field: row[field] for field in fields} for number, row in rows.items()}
    results = {number: evaluate_structural([as_mapping(span) for span in spans]) for number, spans in traces.items()}
    scored = {number: {field: getattr(result, field) for field in fields} for number, result in results.items()}
    expected = {number: scored[number] for number, result in results.items() if result.checks}
    either = stored.keys() | expected.keys()
    return {n: (stored.get(n), expected.get(n)) for n in either if stored.get(n) != expected.get(n)}


def test_sql_and_the_scalar_function_agree() -> None:
    """On 400 traces: which have an evaluation, its score, its verdict, and what is said of each check."""
    random = Random(5)
    assert differing({number: trace(random, number) for number in range(1, TRACES + 1)}) == {}


def test_a_genai_search_that_names_nothing_counts_in_both() -> None:
    """It does not say that it found nothing, so it is the gap that Tier 3 is there to show."""
    attributes: dict[str, Value] = {"gen_ai.operation.name": "search_memory", "gen_ai.agent.id": "a"}
    assert differing({1: [S(1, 1, attributes=attributes)]}) == {}
