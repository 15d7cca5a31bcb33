"""The view `findings`: each code on the smallest story that has it, and none on the nearest that has not."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from engine_harness import Analysis
from oracle import SEVERITY
from otlp import S, Value, read, write
from weaklink_analysis.operations import Settings
from weaklink_analysis.scoring import Scoring

DAY = 86400
HALF_FRESH = Settings(scoring=Scoring(stale_below=0.5))
RUN = S(1, 90, "run", attributes={"gen_ai.operation.name": "invoke_agent"})


def beneath(*spans: S) -> list[S]:
    """The spans in an agent's run."""
    return [RUN, *(replace(s, parent=90) for s in spans)]


def also(s: S, **attributes: Value) -> S:
    """The span with thresholds of its own, or other attributes by their last name."""
    named = {f"memory.confidence_policy.{key}_threshold": value for key, value in attributes.items()}
    return replace(s, attributes={**s.attributes, **named})


def search(*records: Mapping[str, object]) -> S:
    """A search at second 3 that lists these records."""
    said = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": json.dumps(records), "session.id": "s"}
    return S(1, 3, start=3, end=3, attributes=said)


SOURCE = write(1, 1, "m", 0.9, at=1)
STAGED = replace(SOURCE, trace=2, environment="staging")
CHILD = write(1, 2, "d", 0.9, at=2, parents=["m"])
CIRCLE = (write(1, 1, "x", 0.5, at=1, parents=["y"]), write(1, 2, "y", 0.5, at=1, parents=["x"]))
NAMELESS = S(1, 1, "memledger.memory.recall", attributes={"memledger.memory.session_id": "s"})
NOTHING = replace(NAMELESS, attributes={**NAMELESS.attributes, "memledger.result_count": 0})
SELFISH = write(1, 1, "m", 0.9, at=1, parents=["m"])

DECIDING: Mapping[str, Value] = {"memory.decision": True, "memory.relied_on": "m"}
DECISION = S(1, 3, "decide", start=3, end=3, attributes=DECIDING)

CASES: Sequence[tuple[str, dict[str, object], Sequence[S], Sequence[S]]] = (
    ("unresolved_parent", {"parent_ids": ["m"]}, [CHILD], [SOURCE, CHILD]),
    ("cross_environment_parent", {"parent_ids": ["m"], "environments": ["staging"]}, [STAGED, CHILD], [SOURCE, CHILD]),
    ("cycle", {"length": 2, "parent_ids": ["y"]}, CIRCLE, [CIRCLE[0], replace(CIRCLE[1], end=100)]),
    ("cycle", {"length": 1, "parent_ids": ["m"]}, [SELFISH], [SELFISH, write(1, 3, "m", 0.9)]),
    (
        "derived_before_parent",
        {"parent_ids": ["m"], "seconds": 60.0},
        [CHILD, replace(SOURCE, end=62)],
        [CHILD, replace(SOURCE, end=2)],
    ),
    (
        "confidence_inflated",
        {"declared": 0.9, "chain_min_confidence": 0.3, "weakest_id": "m"},
        [write(1, 1, "m", 0.3, at=1), CHILD],
        [SOURCE, CHILD],
    ),
    (
        "read_before_write",
        {"version": 1, "seconds": 0.25},
        [read(1, 2, "m", None, at=0.75), SOURCE],
        [read(1, 2, "m", None, at=1), SOURCE],
    ),
    (
        "confidence_mismatch",
        {"shown": 0.8, "declared": 0.9, "version": 1},
        [SOURCE, read(1, 2, "m", 0.8, at=2)],
        [write(1, 1, "m", None, at=1), read(1, 2, "m", 0.8, at=2)],
    ),
    (
        "filtered_memory_returned",
        {"effective_confidence": 0.39, "min_threshold": 0.4, "version": 1},
        [write(1, 1, "m", 0.39, at=1), read(1, 2, "m", None, at=2)],
        [write(1, 1, "m", 0.4, at=1), read(1, 2, "m", None, at=2)],
    ),
    (
        "stale_memory_read",
        {"freshness": 0.25, "age_days": 360.0, "version": 1},
        [write(1, 1, "m", 0.9), read(1, 2, "m", None, at=360 * DAY)],
        [write(1, 1, "m", 0.9), read(1, 2, "m", None, at=180 * DAY)],
    ),
    ("read_without_ids", {"operation": "read"}, [NAMELESS], [NOTHING]),
    ("missing_session", {"operation": "write"}, [write(1, 1, "m", 0.9, session=None)], [SOURCE]),
    ("invalid_confidence", {"value": "1_0"}, [write(1, 1, "m", "1_0")], [write(1, 1, "m", None)]),
    ("invalid_confidence", {"value": "x" * 100}, [write(1, 1, "m", "x" * 101)], [write(1, 1, "m", "1")]),
    (
        "invalid_thresholds",
        {"min_threshold": "low", "flag_threshold": None},
        [also(SOURCE, min="low")],
        [also(SOURCE, min="0.5")],
    ),
    (
        "invalid_thresholds",
        {"min_threshold": "0.61", "flag_threshold": None},
        [also(SOURCE, min=0.61)],
        [also(SOURCE, min=0.6)],
    ),
    (
        "memory_span_without_agent_run",
        {"operation": "write"},
        [replace(SOURCE, trace=2)],
        [SOURCE, S(1, 4, "memledger.promote")],
    ),
    ("decision_without_memory", {"kind": "agent_run"}, [NAMELESS], [read(1, 2, "m", 0.9)]),
    (
        "decision_without_memory",
        {"kind": "plan"},
        [SOURCE, S(1, 3, attributes={"gen_ai.operation.name": "plan"})],
        [SOURCE, CHILD, S(1, 3, start=3, end=3, attributes={"gen_ai.operation.name": "plan"})],
    ),
    ("decision_cites_unread", {"version": 1}, [SOURCE, DECISION], [SOURCE, read(1, 2, "m", 0.9, at=9), DECISION]),
    ("decision_cites_unread", {"version": None}, [DECISION], [replace(DECISION, attributes={"memory.decision": True})]),
)
"""A code, the detail of the one finding of it, a story that has it (in a run) and one nearby that has not."""


def details(analysis: Analysis, code: str) -> list[object]:
    return [json.loads(str(row["detail"])) for row in analysis.view("findings") if row["code"] == code]


def codes(analysis: Analysis) -> set[object]:
    return {row["code"] for row in analysis.view("findings")}


@pytest.mark.parametrize(("code", "detail", "raised", "spared"), CASES, ids=[case[0] for case in CASES])
def test_each_code_is_found_where_it_is_and_nowhere_near(
    code: str, detail: dict[str, object], raised: Sequence[S], spared: Sequence[S]
) -> None:
    """The first story of a code has it, with this detail; the second, which differs little, has not."""
    with Analysis(HALF_FRESH) as analysis, Analysis(HALF_FRESH) as other:
        for each, story in ((analysis, raised), (other, spared)):
            each.feed(beneath(*story))
            each.evaluate()
        assert detail in details(analysis, code)
        assert details(other, code) == []


def test_every_code_has_its_stories() -> None:
    """What the view can find is what is tried here."""
    assert {code for code, *_ in CASES} == set(SEVERITY)


def test_a_finding_says_where_it_is(analysis: Analysis) -> None:
    """It has the ids, environment, service and time of the span, and the severity of its code."""
    analysis.feed([replace(CHILD, environment="production", service="desk")])
    (found,) = [row for row in analysis.view("findings") if row["code"] == "unresolved_parent"]
    (version,) = analysis.table("memory_versions")
    where = ("trace_id", "span_id", "memory_id", "environment", "service_name")
    assert [found[key] for key in where] == [version[key] for key in where]
    assert (found["severity"], found["time"]) == ("warning", version["written_at"])


def test_a_cycle_longer_than_is_looked_at_is_none() -> None:
    """Its versions have truncated chains, and no finding; one hop more of looking finds it."""
    ring = [write(1, n, f"m{n}", 0.5, at=1, parents=[f"m{n % 3 + 1}"]) for n in (1, 2, 3)]
    ways = [{"length": 3, "parent_ids": [parent]} for parent in ("m1", "m2", "m3")]
    for max_hops, expected in ((2, []), (3, ways)):
        with Analysis(Settings(max_hops=max_hops)) as analysis:
            analysis.feed(ring)
            assert [row["chain_truncated"] for row in analysis.table("memory_versions")] == [True] * 3
            assert sorted(details(analysis, "cycle"), key=repr) == expected


@pytest.mark.parametrize(
    ("code", "first", "then"),
    [
        ("unresolved_parent", [CHILD], [STAGED]),
        ("unresolved_parent", [CHILD], [SOURCE]),
        ("cycle", CIRCLE, [replace(CIRCLE[1], end=100)]),
        ("missing_session", [write(1, 1, "m", 0.9, session=None, parent=9)], [S(1, 9, attributes={"session.id": "s"})]),
        ("confidence_mismatch", [SOURCE, read(1, 2, "m", 0.8, at=3)], [write(1, 3, "m", 0.8, at=2)]),
    ],
)
def test_a_later_span_takes_a_finding_back(code: str, first: Sequence[S], then: Sequence[S]) -> None:
    """What does not hold any more is found no more, though its own span did not come again."""
    with Analysis() as analysis:
        analysis.feed(first)
        assert code in codes(analysis)
        analysis.feed(then)
        assert code not in codes(analysis)


def test_a_record_that_is_listed_twice_counts_once(analysis: Analysis) -> None:
    """One finding a code, span and memory: that of the first record that has it."""
    analysis.feed([SOURCE, search(*({"id": "m", "confidence": shown} for shown in (0.9, 0.8, 0.7)))])
    assert details(analysis, "confidence_mismatch") == [{"shown": 0.8, "declared": 0.9, "version": 1}]


def test_no_read_is_stale_unless_that_is_configured(analysis: Analysis) -> None:
    """However old a memory is that was read, its freshness is told, and is no finding by default."""
    analysis.feed([write(1, 1, "m", 0.9), read(1, 2, "m", None, at=3600 * DAY)])
    assert [row["freshness"] for row in analysis.table("memory_operations")] == [None, 0.1]
    assert "stale_memory_read" not in codes(analysis)


def test_a_clean_story_has_none(analysis: Analysis) -> None:
    """Nothing is found where nothing is wrong."""
    analysis.feed(beneath(SOURCE, CHILD, read(1, 3, "d", 0.9, at=3)))
    assert analysis.view("findings") == []
