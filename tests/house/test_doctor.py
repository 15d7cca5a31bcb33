"""What `weaklink doctor` finds: stories of what spans lack, each a service of its own, told in one file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any

import pytest

from covered import file_of, gaps, report
from engine_harness import Analysis
from otlp import S, Value

RUN: Mapping[str, Value] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
METADATA = {"confidence": 0.8, "created_by": "a", "session_id": "s"}
LEDGER: Mapping[str, Value] = {
    "memledger.memory.id": "m",
    "memledger.memory.confidence": 0.8,
    "memledger.memory.source_agent_id": "a",
    "memledger.memory.session_id": "s",
}
SEARCH: Mapping[str, Value] = {
    "memledger.memory.operation": "search",
    "memledger.memory.source_agent_id": "a",
    "memledger.result_count": 3,
    "session.id": "s",
}


def records(*ids: str, **metadata: object) -> str:
    return json.dumps([{"id": id_, "metadata": METADATA | metadata} for id_ in ids])


def genai(span: int, operation: str, at: float = 2, **said: Value) -> S:
    """A GenAI memory span in the run; `__` in a key stands for a dot."""
    named = {key.replace("__", "."): value for key, value in said.items()}
    return S(1, span, operation, 1, at, at, {"gen_ai.operation.name": operation} | named)


def ledger(span: int, verb: str, at: float = 2, lacks: str = "", **said: Value) -> S:
    """A memledger span in the run, without one of its attributes."""
    attributes = dict(LEDGER) | {f"memledger.memory.{key}": value for key, value in said.items()}
    attributes.pop(f"memledger.memory.{lacks}", None)
    return S(1, span, f"memledger.memory.{verb}", 1, at, at, attributes)


def read(at: float = 1) -> S:
    return genai(90, "search_memory", at, gen_ai__memory__records=records("r"))


def write(span: int = 2, at: float = 2, **metadata: object) -> S:
    return genai(span, "create_memory", at, gen_ai__memory__records=records("m", **metadata))


STORIES: dict[str, tuple[Sequence[S], set[tuple[str, str]]]] = {
    "all is there": ([read(), write(derived_from=["r"])], set()),
    "a genai search without records": (
        [genai(2, "search_memory", memory__agent__id="a", session__id="s")],
        {("read", "ids"), ("read", "confidence")},
    ),
    "a genai search that found nothing": ([genai(2, "search_memory", gen_ai__memory__record__count=0)], set()),
    "a genai search of records without metadata": (
        [genai(2, "search_memory", gen_ai__memory__records='[{"id": "a"}, {"id": "b"}]', session__id="s")],
        {("read", "confidence"), ("read", "agent")},
    ),
    "a genai write without an id": (
        [genai(2, "create_memory", memory__confidence=0.8, memory__agent__id="a", session__id="s")],
        {("write", "ids")},
    ),
    "a confidence in words": ([write(confidence="high")], {("write", "valid_confidence")}),
    "a confidence that is derived": ([write(confidence=None, source="user_message")], {("write", "confidence")}),
    "a confidence of zero": ([write(confidence=0)], set()),
    "an unknown agent": ([write(created_by="unknown")], {("write", "agent")}),
    "a write after a read, without parents": ([read(), write()], {("write", "parents")}),
    "a write after a read that found nothing": (
        [genai(3, "search_memory", 1, gen_ai__memory__record__count=0), write()],
        set(),
    ),
    "a link to what was read": (
        [read(), replace(write(), links=[{"memory.link": "derived_from", "memory.id": "r"}])],
        set(),
    ),
    "a link that names nothing": (
        [read(), replace(write(derived_from=["r"]), links=[{"memory.link": "derived_from"}])],
        {("write", "link_ids")},
    ),
    "links of which one names nothing": (
        [replace(write(), links=[{"memory.link": "derived_from", "memory.id": id_} for id_ in ("r", "[]")])],
        {("write", "link_ids")},
    ),
    "a link of another kind": ([replace(write(), links=[{"memory.link": "relied_on"}, {}])], set()),
    "a write before a read": ([write(at=1), read(at=2)], set()),
    "a write beside a read of another run": (
        [S(1, 8, "run", 0, 0, 9, RUN), replace(read(), parent=8), write()],
        set(),
    ),
    "a session that is nowhere": ([write(session_id="")], {("write", "session")}),
    "a session of the run": (
        [S(1, 1, "run", 0, 0, 9, dict(RUN) | {"gen_ai.conversation.id": "s"}), write(session_id="")],
        set(),
    ),
    "a session of the run, and a memory of nobody": (
        [
            S(1, 1, "run", 0, 0, 9, dict(RUN) | {"gen_ai.conversation.id": "s"}),
            genai(2, "search_memory", gen_ai__memory__records='[{"id": "a"}]', memory__agent__id="a"),
        ],
        {("read", "confidence")},
    ),
    "no agent run": ([replace(write(), parent=0)], {("write", "agent_run")}),
    "a run of OpenInference": (
        [S(1, 1, "run", 0, 0, 9, {"openinference.span.kind": "AGENT"}), write()],
        set(),
    ),
    "memledger: all is there": ([ledger(2, "recall", 1), ledger(3, "add", 2, id="n", parent_ids='["m"]')], set()),
    "memledger: a search as it instruments it": (
        [S(1, 2, "memledger.memory.search", 1, 2, 2, SEARCH)],
        {("read", "ids"), ("read", "confidence")},
    ),
    "memledger: no id": ([ledger(2, "add", lacks="id")], {("write", "ids")}),
    "memledger: no confidence": ([ledger(2, "add", lacks="confidence")], {("write", "confidence")}),
    "memledger: no agent": ([ledger(2, "add", lacks="source_agent_id")], {("write", "agent")}),
    "memledger: no session": ([ledger(2, "recall", lacks="session_id")], {("read", "session")}),
    "memledger: a write after a recall, without parents": (
        [ledger(2, "recall", 1), ledger(3, "add", 2, id="n", parent_ids="[]")],
        {("write", "parents")},
    ),
    "memledger: a percentage": ([ledger(2, "add", confidence=80)], {("write", "valid_confidence")}),
    "memledger: an outcome that says nothing": (
        [S(1, 2, "memledger.memory.outcome", 1, 2, 2, {})],
        {("outcome", "ids"), ("outcome", "confidence"), ("outcome", "agent")},
    ),
    "memledger: what Tier 3 does not count": (
        [S(1, 2, "memledger.get", 1, 2, 2, {"memledger.memory_id": "m"})],
        set(),
    ),
}  # fmt: skip
"""Name -> spans besides the agent run that encloses them, and what they lack."""


def told(name: str, number: int) -> list[S]:
    """The story as a service of that name, with ids of its own."""
    spans, _ = STORIES[name]
    run = [] if any(s.span == 1 for s in spans) else [S(1, 1, "run", 0, 0, 9, RUN)]
    return [replace(s, trace=number, service=name) for s in (*run, *spans)]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is said of all stories."""
    stories = [s for number, name in enumerate(STORIES, 1) for s in told(name, number)]
    return report(file_of(tmp_path_factory.mktemp("doctor") / "stories.binpb", stories))


@pytest.mark.parametrize("name", STORIES)
def test_what_a_story_lacks(said: dict[str, Any], name: str) -> None:
    """Exactly what spans do not carry and ought to is a gap of their service."""
    assert set(gaps(said, name)) == STORIES[name][1]


def test_a_gap_counts_records_and_shows_one(said: dict[str, Any]) -> None:
    """It says how many records lack it, of how many, in how many traces, and an example that is there."""
    name = "a genai search of records without metadata"
    gap = gaps(said, name)["read", "confidence"]
    assert {key: gap[key] for key in ("convention", "total", "lacking", "known", "open", "traces", "share")} == {
        "convention": "genai", "total": 2, "lacking": 2, "known": 0, "open": 2, "traces": 1, "share": 1.0,
    }  # fmt: skip
    assert (int(gap["trace_id"], 16), int(gap["span_id"], 16)) == (list(STORIES).index(name) + 1, 2)


def test_what_counts_for_a_confidence_that_is_not_there(said: dict[str, Any]) -> None:
    """A derived one is told, and counts as the text says; for Tier 3 it is missing all the same."""
    names = ("a confidence that is derived", "memledger: no confidence")
    texts = {gaps(said, name)["write", "confidence"]["assumes"] for name in names}
    assert texts == {"0.5 stands for it, unless one is derived from the source that the span names."}
    with Analysis() as analysis:
        analysis.feed([s for number, name in enumerate(names, 1) for s in told(name, number)])
        rows = analysis.engine.snapshot("memory_versions").to_pylist()
    assert sorted((row["confidence_source"], row["declared_confidence"]) for row in rows) == [
        ("assumed", 0.5),
        ("derived", pytest.approx(0.45 * 0.95 + 0.20 * (1 - 1 / (1 + log(2))) + 0.25 * 0.65 + 0.10 * 0.75)),
    ]


TIER_3 = {"confidence_populated": 1, "confidence_above_threshold": 1}


@pytest.mark.parametrize(
    ("story", "gap", "checks"),
    [
        ("memledger: a search as it instruments it", ("read", "confidence"), TIER_3),
        ("memledger: a search as it instruments it", ("read", "ids"), {"decision_without_memory": 1}),
        ("memledger: no agent", ("write", "agent"), {"source_agent_present": 1}),
        ("a confidence in words", ("write", "valid_confidence"), TIER_3),
        ("a write after a read, without parents", ("write", "parents"), {}),
    ],
)
def test_what_a_gap_costs(said: dict[str, Any], story: str, gap: tuple[str, str], checks: dict[str, int]) -> None:
    """The checks that fail in its traces are those of the evaluations, with the number of traces."""
    assert {one["check"]: one["traces"] for one in gaps(said, story)[gap]["failing"]} == checks


def test_only_what_the_span_carries_counts(said: dict[str, Any]) -> None:
    """An inherited agent is still a gap, as for Tier 3; an inherited session is a fact, and nothing is to be mended."""
    agent = gaps(said, "memledger: no agent")["write", "agent"]
    assert (agent["lacking"], agent["known"], agent["open"]) == (1, 1, 1)
    (session,) = [gap for gap in said["gaps"] if gap["service_name"] == "a session of the run"]
    assert (session["gap"], session["lacking"], session["known"], session["open"]) == ("session", 1, 1, 0)


def test_what_need_not_be_mended_makes_nothing_fail(said: dict[str, Any]) -> None:
    """A check that fails for another reason is not put down to a session that is known."""
    name = "a session of the run, and a memory of nobody"
    (session,) = [gap for gap in said["gaps"] if gap["service_name"] == name and gap["gap"] == "session"]
    assert (session["open"], session["failing"]) == (0, [])


def test_what_was_recognised(said: dict[str, Any]) -> None:
    """By convention and operation: spans, records, and those that Tier 3 counts."""
    rows = {row["service_name"]: row for row in said["recognised"]}
    search = rows["a genai search of records without metadata"]
    assert (search["convention"], search["operation"], search["spans"], search["records"]) == ("genai", "read", 1, 2)
    assert (rows["memledger: what Tier 3 does not count"]["records"], search["counted"]) == (1, 2)
    assert rows["memledger: what Tier 3 does not count"]["counted"] == 0


STRANGERS: dict[str, tuple[Sequence[S], set[str]]] = {
    "a name": ([S(1, 2, "acme.recall 17", 1)], {"acme.recall *"}),
    "an attribute": ([S(1, 2, "POST", attributes={"acme.memory.id": "m"})], {"POST"}),
    "a tool": (
        [S(1, 2, "tool", attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "recall_facts"})],
        {"tool"},
    ),
    "a web server": ([S(1, 2, "GET /", attributes={"http.route": "/", "process.memory.usage": 1})], set()),
    "an agent of that name": ([S(1, 2, "invoke_agent memory keeper", attributes=RUN)], set()),
    "a decision": ([S(1, 2, "decide", attributes={"memory.decision": True, "memory.relied_on": ["m"]})], set()),
    "beneath a memory span": ([write(), S(1, 3, "vector search", 2)], set()),
    "beside a memory span": ([write(), S(1, 3, "vector search", 1)], {"vector search"}),
}
"""Name -> spans, and the names among them that look like memory and were not recognised."""


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    spans = [
        replace(s, trace=number, service=name)
        for number, (name, (story, _)) in enumerate(STRANGERS.items(), 1)
        for s in story
    ]
    return report(file_of(tmp_path_factory.mktemp("doctor") / "strangers.binpb", spans))


@pytest.mark.parametrize("name", STRANGERS)
def test_what_looks_like_memory(strangers: dict[str, Any], name: str) -> None:
    """Spans whose name or attributes speak of memory are shown where no convention knows them; others are not."""
    assert {hint["name"] for hint in strangers["hints"] if hint["service_name"] == name} == STRANGERS[name][1]
    assert name in {sender["service_name"] for sender in strangers["services"]}


def test_a_hint_says_which_attributes_and_what_to_do(strangers: dict[str, Any]) -> None:
    """The attributes that look so, an example, and the attribute that makes it a memory span."""
    (hint,) = [hint for hint in strangers["hints"] if hint["service_name"] == "an attribute"]
    assert (hint["keys"], int(hint["span_id"], 16)) == (["acme.memory.id"], 2)
    assert hint["mend"]["attribute"] == "gen_ai.operation.name"
