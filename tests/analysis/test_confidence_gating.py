"""The view `confidence_gating`: what a read got, by flag."""

import json

from engine_harness import Analysis
from otlp import S, write


def search(records: list[str], **thresholds: float) -> S:
    """A search at second 9 that found these memories."""
    attributes: dict[str, str | float] = {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.records": json.dumps([{"id": memory} for memory in records]),
    }
    policy: dict[str, str | float] = {f"memory.confidence_policy.{key}": value for key, value in thresholds.items()}
    return S(2, 1, start=9, end=9, attributes=attributes | policy)


WRITES = [write(1, n, memory, c) for n, (memory, c) in enumerate({"a": 0.9, "b": 0.5, "c": 0.1}.items(), start=1)]


def test_a_search_is_counted_by_flag(analysis: Analysis) -> None:
    """Each record is listed in its place with its flag; one that is unresolved has none and is counted nowhere."""
    analysis.feed([*WRITES, search(["c", "a", "lost", "b"])])
    (row,) = analysis.view("confidence_gating")
    records = [tuple(record.values()) for record in json.loads(str(row.pop("records")))]
    assert records == [("c", 0.1, "FILTER"), ("a", 0.9, "PASS"), ("lost", None, None), ("b", 0.5, "FLAG")]
    counts = {"passed": 1, "flagged": 1, "filtered": 1, "min_threshold": 0.4, "flag_threshold": 0.6}
    assert row == {"trace_id": f"{2:032x}", "span_id": f"{1:016x}"} | counts


def test_the_thresholds_are_those_of_the_search(analysis: Analysis) -> None:
    """What a search asks for is what its records are flagged by."""
    analysis.feed([*WRITES, search(["a", "b", "c"], min_threshold=0.95, flag_threshold=0.99)])
    (row,) = analysis.view("confidence_gating")
    assert (row["filtered"], row["min_threshold"], row["flag_threshold"]) == (3, 0.95, 0.99)


def test_a_search_that_names_nothing_has_a_row(analysis: Analysis) -> None:
    """It has zeros and an empty array; a write has no row."""
    analysis.feed([*WRITES, search([])])
    (row,) = analysis.view("confidence_gating")
    assert (row["passed"], row["flagged"], row["filtered"], row["records"]) == (0, 0, 0, "[]")
