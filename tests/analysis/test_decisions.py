"""Decisions: what they rest on, what their score sees, and of which a backend hears. tests/oracle has every rule."""

import json
import re
from dataclasses import replace

import pytest

from docs.pages import on_page
from engine_harness import Analysis
from evaluations import Evaluation, values
from otlp import S, read, write
from weaklink_analysis.cookbook import question

CASCADE = [
    write(1, 1, "triage", 0.30, 1, agent="triage"),
    write(1, 2, "diagnosis", 0.85, 2, parents=["triage"], agent="diagnosis"),
    S(1, 9, "invoke_agent action", 0, 3, 9, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "action"}),
    read(1, 3, "diagnosis", 0.85, 4, parent=9),
    write(1, 4, "action", 0.95, 5, parents=["diagnosis"], agent="action", parent=9),
]
AGENT = {"openinference.span.kind": "AGENT"}
PERIOD = re.compile(r"start_time BETWEEN .* AND now\(\)")
PLAN = {"gen_ai.operation.name": "plan"}


def heard(analysis: Analysis, *scopes: str) -> list[Evaluation]:
    """What a backend is told of the last judgement."""
    return values(analysis.engine.revised(scopes))


def test_the_effective_score_sees_the_contaminated_chain(analysis: Analysis) -> None:
    """The third agent acts at 0.95 on 0.85 on a guess of 0.30: that passes on declared confidence, not on effective."""
    analysis.feed(CASCADE)
    analysis.evaluate()
    (decision,) = [row for row in analysis.view("decisions") if row["agent_id"] == "action"]
    assert (decision["kind"], decision["memory_ids"], decision["decision_memory_id"]) == (
        "agent_run", ["diagnosis"], "action",
    )  # fmt: skip
    assert decision["min_effective_confidence"] == 0.3
    (verdict,) = [row for row in analysis.view("evaluations") if row["span_id"] == decision["span_id"]]
    assert (verdict["score"], verdict["passed"], verdict["score_effective"]) == (0.8, True, 0.4)


NOTE = {"gen_ai.memory.record.id": "note"}


def noted(span: int, store: str, confidence: float, agent: str) -> S:
    """A write of the note in a store."""
    said = {"gen_ai.operation.name": "upsert_memory", "gen_ai.memory.store.id": store, "memory.agent.id": agent}
    return S(1, span, end=span, attributes=NOTE | said | {"memory.confidence": confidence})


def test_only_the_version_that_it_relied_on_is_blamed(analysis: Analysis) -> None:
    """Neither an earlier one of the memory, nor a memory of the same id in another store; so says the cookbook, too."""
    found = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.store.id": "crm"}
    analysis.feed(
        [
            *(noted(1, "crm", 0.2, "hasty"), noted(2, "crm", 0.9, "careful"), noted(3, "wiki", 0.1, "other")),
            write(1, 4, "guess", 0.3, 4, agent="guesser"),
            S(2, 5, start=5, end=5, attributes=NOTE | found),
            read(2, 6, "guess", 0.3, 6, agent="reader"),
        ]
    )
    analysis.evaluate()
    (decision,) = analysis.view("decisions")
    assert decision["relied_on"] == [
        {"memory_id": "guess", "store": "", "environment": "", "version": 1},
        {"memory_id": "note", "store": "crm", "environment": "", "version": 2},
    ]
    with analysis.catalogue() as catalogue:
        blamed, authors = (
            catalogue.execute(PERIOD.sub("true", question(name).sql)).fetchall()
            for name in ("contamination_leaderboard", "readers_and_authors")
        )
    assert blamed == [("", "", "guess", 0.3, 1, 1)]
    assert sorted(author for _, _, author, _ in authors) == ["careful", "guesser"]


def test_the_page_shows_what_a_decision_relied_on(analysis: Analysis) -> None:
    """Whatever it went by: a memory that it names and nobody read, and one that is not known, which costs most."""
    analysis.feed(
        [
            write(1, 1, "guess", 0.3, 1, agent="guesser"),
            S(2, 2, start=5, end=5, attributes={"memory.decision": True, "memory.relied_on": ["guess", "lost"]}),
        ]
    )
    analysis.evaluate()
    (shown,) = [block.text for block in on_page("docs/why-failed.md") if "AS decided" in block.text]
    with analysis.catalogue() as catalogue:
        rows = catalogue.execute(f"SELECT memory_id, version, author FROM ({shown})").fetchall()
    assert sorted(rows) == [("guess", 1, "guesser"), ("lost", None, None)]


def test_a_better_guess_mends_the_decision(analysis: Analysis) -> None:
    """The same story with the guess confirmed at 0.9 before it was built on: both scores pass, from another trace."""
    analysis.feed(CASCADE)
    analysis.evaluate()
    analysis.feed([write(2, 1, "triage", 0.9, 1.5, agent="triage")])
    analysis.evaluate()
    (verdict,) = [one for one in heard(analysis, "decision") if one.record_ids == "diagnosis"]
    assert (verdict.score, verdict.revision) == (1.0, 2)
    assert json.loads(verdict.metadata or "")["score_effective"] == 1.0


def test_of_what_was_never_scored_nobody_hears(analysis: Analysis) -> None:
    """A decision that relied on nothing is not evaluable; that it ceases to be one later is no news either."""
    analysis.feed([S(1, 1, attributes=PLAN)])
    analysis.evaluate()
    (row,) = analysis.view("evaluations")
    assert (row["label"], row["score"]) == ("not_evaluable", None)
    assert heard(analysis, "decision") == []
    analysis.feed([S(1, 1, end=9)])
    assert analysis.evaluate() == 1
    assert (analysis.view("decisions"), analysis.view("evaluations")) == ([], [])
    assert heard(analysis, "decision") == []


def test_a_decision_that_loses_what_it_relied_on_is_told_of(analysis: Analysis) -> None:
    """Its score becomes null, as a revision."""
    analysis.feed([read(1, 2, "m", 0.9, 1), S(1, 3, end=5, start=5, attributes=PLAN)])
    analysis.evaluate()
    assert [one.score for one in heard(analysis, "decision")] == [1.0]
    analysis.feed([replace(read(1, 2, "m", 0.9, 1), end=9)])
    analysis.evaluate()
    assert [(one.score, one.label, one.revision) for one in heard(analysis, "decision")] == [(None, "not_evaluable", 2)]


def test_a_session_is_judged_over_its_traces(analysis: Analysis) -> None:
    """It has one evaluation, at the span of its earliest operation, about all its memories; sent only if asked for."""
    analysis.feed([write(1, 1, "m", 0.9, 5)])
    analysis.evaluate()
    analysis.feed([read(2, 7, "n", 0.2, 1)])
    analysis.evaluate()
    (row,) = [row for row in analysis.view("evaluations") if row["scope"] == "session"]
    assert (row["trace_id"], row["span_id"], row["session_id"]) == (f"{2:032x}", f"{7:016x}", "s")
    assert (row["score"], row["span_count"]) == (0.5, 2)
    assert {one.scope for one in heard(analysis, "decision", "trace")} == {"decision", "trace"}
    (told,) = heard(analysis, "session")
    assert (told.record_ids, told.revision) == ("m,n", 2)


def search(span: int, *, store: str | None) -> S:
    """A search at second 1 that found the memory m, in a store or without a word of one."""
    said = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.record.id": "m"}
    return S(1, span, start=1, end=1, attributes=said | ({"gen_ai.memory.store.id": store} if store else {}))


CITING = S(1, 1, "decide", 5, 5, attributes={"memory.decision": True, "memory.relied_on": "m"})
DERIVED = [S(1, 1, "decide", 5, 5, attributes=PLAN), write(1, 2, "d", 0.9, 4, parents=["m"])]
FROM_ELSEWHERE = {
    "a memory that it names is written": ([CITING], [write(2, 1, "m", 0.2, 1)], "min_effective_confidence", 0.5, 0.2),
    "the source of one that it names is": (
        [CITING, write(2, 1, "m", 0.9, 2, parents=["n"])], [write(3, 1, "n", 0.2, 1)],
        "min_effective_confidence", 0.9, 0.2,
    ),
    "a parent of its memory gets an author": (
        [*DERIVED, write(2, 1, "m", 0.9, 1, agent="", parent=9)], [S(2, 9, attributes={"agent.name": "a"})],
        "score", 0.6, 1.0,
    ),
    "two reads turn out to mean one memory": (
        [search(2, store="st"), search(3, store=None), S(1, 1, start=5, end=5, attributes=PLAN)],
        [replace(search(1, store="st"), trace=2, end=200.0, attributes={
            **search(1, store="st").attributes, "gen_ai.operation.name": "create_memory",
        })],
        "memory_ids", ["m", "m"], ["m"],
    ),
    "its run turns out to be none, and is within another": (
        [S(1, 8, attributes=AGENT), S(1, 1, parent=8, attributes=AGENT), read(1, 2, "m", 0.9, 1, parent=1)],
        [S(1, 1, parent=8, end=3.0)], "span_id", f"{1:016x}", f"{8:016x}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FROM_ELSEWHERE)
def test_what_changes_elsewhere_reaches_the_decision(analysis: Analysis, case: str) -> None:
    """A decision judged already is judged again when a later span changes what it rests on, wherever that arrives."""
    first, then, column, before, after = FROM_ELSEWHERE[case]
    for spans, expected in ((first, before), (then, after)):
        analysis.feed(spans)
        analysis.evaluate()
        rows = analysis.view("evaluations" if column == "score" else "decisions")
        of_first = [row for row in rows if row["trace_id"] == f"{1:032x}" and row.get("scope") != "trace"]
        assert [row[column] for row in of_first if row.get("scope") != "session"] == [expected]
