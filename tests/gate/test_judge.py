"""The verdict itself, on small stories."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.told import Stories, cascade, catalogue_of, run
from otlp import DAWN, SECOND, S, read, write
from weaklink_analysis.gate.judging import judge
from weaklink_analysis.gate.lines import conclusion, lines
from weaklink_analysis.gate.verdict import Failure, Hop, Rules, Tally
from weaklink_analysis.mai.attribution import Attribution
from weaklink_analysis.mai.rubrics import STRICT, RubricError
from weaklink_analysis.operations import Settings
from weaklink_analysis.selection import Selection

DAY = datetime.fromtimestamp(DAWN / SECOND, UTC)
EVERYTHING = Selection()


RECORDS: dict[str, tuple[Sequence[S], str, str]] = {
    "no author": ([read(1, 3, "m", 0.9, 2, agent="")], "m", "nothing says who wrote it"),
    "no session": (
        [read(1, span, f"m{span}", 0.9, 2, session="") for span in (3, 4)],
        "m3",
        "in which session",
    ),
    "a hedged guess": ([read(1, 3, "m", 0.3, 2, hedged=True)], "m", "m, which a declared at 0.30."),
    "a guess": ([read(1, 3, "m", 0.3, 2)], "m", "without the hedge mark"),
    "unknown": (
        [S(1, 3, "decide", attributes={"memory.decision": True, "memory.relied_on": ["ghost"]})],
        "ghost",
        "nothing here wrote or showed",
    ),
}
"""Name -> what a decision relied on, the memory at fault, and what is said of it."""
OPERATIONS: dict[str, tuple[Sequence[S], str, str]] = {
    "no_low_confidence_unhedged": ([read(1, 2, "m", 0.2)], "m", "nothing marks it as a guess"),
    "confidence_above_threshold": ([read(1, 2, "m", 0.9), write(1, 3, "n", 0.5)], "n", "the write of n by a has 0.50"),
    "confidence_populated": ([read(1, 2, "m", None), read(1, 3, "n", 0.9)], "m", "the read of m by a has none"),
    "source_agent_present": ([read(1, 2, "m", 0.9, agent=None)], "m", "the read of m names none"),
    "chain_depth_bounded": (
        [write(1, n + 2, f"m{n}", 0.9, n, parents=[f"m{n - 1}"]) for n in range(7)],
        "m6",
        "Deepest chain: 6",
    ),
}
"""Check -> operations that fail it, the memory that shows it, and what is said."""
DIAMOND = [
    run(1, 1, "x"),
    write(1, 2, "guess", 0.2, 1, parent=1),
    write(1, 3, "well", 0.9, 2, parent=1),
    write(1, 4, "middle", 0.8, 3, parent=1, parents=["guess", "well"]),
    write(1, 5, "far", 0.8, 4, parent=1, parents=["middle"]),
    write(1, 6, "end", 0.9, 5, parent=1, parents=["far", "middle", "well"]),
]
CYCLE = [
    run(1, 1, "x"),
    write(1, 2, "a", 0.3, 1, parent=1, parents=["b"]),
    write(1, 3, "b", 0.9, 2, parent=1, parents=["a"]),
]
BLIND = [run(2, 1, "b"), S(2, 2, "memledger.memory.search", 1, 1, 1, {"memledger.memory.operation": "search"})]


def in_a_run(spans: Sequence[S]) -> list[S]:
    return [run(1, 1, "x"), *(replace(s, parent=1) for s in spans)]


@pytest.fixture(scope="module")
def stories() -> Stories:
    return Stories(
        {
            "cascade": cascade(),
            "confirmed": cascade(guess=0.9),
            "hopeless": cascade(guess=0.05),
            "diamond": DIAMOND,
            "cycle": CYCLE,
            "blind": BLIND,
            "half blind": [*cascade(guess=0.9), *BLIND],
            "two": [*cascade(1), *cascade(2, 0.9, "x-")],
            **{name: in_a_run(spans) for name, (spans, *_) in (RECORDS | OPERATIONS).items()},
        }
    )


def test_the_cascade_fails_and_names_the_guess(stories: Stories) -> None:
    """A decision that looks sound on declared confidence fails on the chain, which ends at the guess and its author."""
    verdict = stories.verdict("cascade")
    assert (verdict.passed, verdict.decisions, verdict.traces) == (False, Tally(2, 0), Tally(1, 1))
    action = verdict.failures[0]
    assert (action.agent_id, action.score, action.declared_score) == ("action", 0.4, 0.8)
    assert (action.memory_id, action.author) == ("triage-1", "triage")
    assert list(action.chain) == [
        Hop("action-1", 1, "action", 0.95, 0.3),
        Hop("diagnosis-1", 1, "diagnosis", 0.85, 0.3),
        Hop("triage-1", 1, "triage", 0.3, 0.3, is_weakest=True),
    ]
    assert action.why == (
        "action relied on diagnosis-1, declared at 0.85, which stands on triage-1, which triage declared at 0.30: "
        "it is worth 0.30."
    )


def test_the_same_confirmed_passes(stories: Stories) -> None:
    """With the guess confirmed at 0.9 there is nothing to say."""
    verdict = stories.verdict("confirmed")
    assert (verdict.passed, verdict.failures, verdict.breaches) == (True, (), ())
    assert (
        conclusion(verdict) == "gate passed: 2 of 2 decisions passed, 1 of 1 traces passed, 0 decisions not evaluable"
    )


def test_the_criteria_add_up_to_the_score(stories: Stories) -> None:
    """What each criterion took on effective confidence, together, is what the score lacks to 1."""
    for failure in stories.verdict("hopeless").failures:
        assert failure.score == pytest.approx(1 + sum(check.points for check in failure.checks))


@pytest.mark.parametrize("name", RECORDS)
def test_a_decision_says_what_it_lacks(stories: Stories, name: str) -> None:
    """The costliest criterion decides which memory is at fault, and what is said of it."""
    _, memory, says = RECORDS[name]
    (failure,) = stories.verdict(name, Rules("1", min_score=0.9)).failures
    assert failure.memory_id == memory
    assert says in failure.why


@pytest.mark.parametrize("check", OPERATIONS)
def test_a_trace_says_what_it_lacks(stories: Stories, check: str) -> None:
    """Each structural check names the memory, or the span, that shows best what is missing."""
    _, memory, says = OPERATIONS[check]
    (failure,) = stories.verdict(check, Rules("3", min_score=1.0)).failures
    assert check in {one.name for one in failure.checks}
    assert (failure.memory_id, failure.tier) == (memory, "3")
    assert says in failure.why


def test_what_cannot_be_evaluated_is_counted(stories: Stories) -> None:
    """A decision that relied on nothing neither passes nor fails; alone, it leaves nothing to judge."""
    verdict = stories.verdict("half blind", Rules("1"))
    assert (verdict.passed, verdict.not_evaluable, verdict.decisions.judged) == (True, 1, 2)
    assert "1 decisions not evaluable" in conclusion(verdict)
    assert stories.verdict("blind", Rules("1")).is_empty


def test_selections() -> None:
    """By service, environment, session, trace and time; what there is instead is told where nothing is left."""
    spans = [*cascade(1, service="one"), *cascade(2, 0.9, "x-", service="two")]
    with catalogue_of(spans) as catalogue:

        def decisions(**chosen: object) -> Tally:
            return judge(catalogue, Selection(**chosen), Rules("1")).decisions  # type: ignore[arg-type]

        assert decisions() == Tally(4, 2)
        assert decisions(service="one") == Tally(2, 0)
        assert decisions(trace_ids=(f"{2:032x}", f"{3:032x}")) == Tally(2, 2)
        assert decisions(since=DAY, until=DAY + timedelta(hours=1)) == Tally(4, 2)
        assert decisions(since=DAY + timedelta(minutes=10)) == Tally()
        assert decisions(until=DAY) == Tally()
        assert decisions(session="nowhere") == decisions(environment="prod") == Tally()
        empty = judge(catalogue, Selection(service="three"), Rules())
    assert empty.is_empty
    assert not empty.passed
    assert [(one.service_name, one.traces, one.decisions) for one in empty.present] == [("one", 1, 2), ("two", 1, 2)]


@pytest.mark.parametrize(
    ("rules", "breach"),
    [
        (Rules(min_pass_rate=0.5), None),
        (Rules(min_pass_rate=0.6), "2 of 4 evaluable decisions"),
        (Rules(min_score=0.4), None),
        (Rules("3"), None),
        (Rules("3", min_traces=3), "2 traces are selected"),
        (Rules("3", max_findings={"confidence_inflated": 3}), None),
        (Rules("3", max_findings={"warning": 0}), "findings of warning"),
    ],
)
def test_rules(stories: Stories, rules: Rules, breach: str | None) -> None:
    """Each rule is held or not by itself, and says so with its numbers."""
    verdict = stories.verdict("two", rules)
    assert verdict.passed == (breach is None)
    assert all(breach in said for said in verdict.breaches if breach)


def test_only_some_are_told_and_all_are_counted() -> None:
    """Of more failures than are asked for, the lowest scores."""
    spans = [s for number in range(1, 6) for s in cascade(number, 0.1 * number - 0.05, f"{number}-")]
    with catalogue_of(spans) as catalogue:
        verdict = judge(catalogue, EVERYTHING, Rules("1"), most=3)
        everything = judge(catalogue, EVERYTHING, Rules("1"))
    assert verdict.decisions == everything.decisions
    assert verdict.failures == everything.failures[:3]
    assert len(everything.failures) == everything.decisions.failed
    scores = [failure.score for failure in everything.failures]
    assert scores == sorted(scores)


def test_a_diamond_is_told_by_its_shortest_way(stories: Stories) -> None:
    """Of several ways to the weakest memory, that of the fewest derivations; a healthy parent is no part of it."""
    (failure,) = stories.verdict("diamond", Rules("1")).failures
    assert [hop.memory_id for hop in failure.chain] == ["end", "middle", "guess"]


def test_numbers_that_changed_since() -> None:
    """Where a late span has mended what a decision stood on, and it is not yet judged again, the failure says so."""
    catalogue = catalogue_of(cascade())
    catalogue.execute("UPDATE lake.memory_versions SET declared_confidence = 0.9, effective_confidence = 0.9")
    action, _ = judge(catalogue, EVERYTHING, Rules("1")).failures
    assert [(check.name, check.points) for check in action.checks] == [("score_effective", -0.6)]


def test_a_cycle_ends(stories: Stories) -> None:
    """Memories that stand on each other are told once each."""
    (failure,) = stories.verdict("cycle", Rules("1")).failures
    assert [hop.memory_id for hop in failure.chain] == ["b", "a"]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_what_spans_say_is_shown_and_not_obeyed(agent: str, memory: str, why: str) -> None:
    """No line of a failure holds a character that a terminal acts on, whatever the spans said."""
    hop = Hop(memory, 1, agent, 0.3, 0.3, is_weakest=True)
    failure = Failure(
        "1", "0" * 32, "0" * 16, agent, agent, memory, agent, 0.1, 0.2, 0.7, (), memory, agent, (hop,), why, why
    )  # fmt: skip
    assert all(line.isprintable() for line in lines(failure))


OWN = Attribution("own/1", low=0.55, confident=0.7, unattributed=0.1, low_unhedged=0.3, assumed_confidence=0.45)


def test_an_attribution_rubric_of_ones_own_is_judged_and_told_by() -> None:
    """The points and the limits that are said are those that made the score, and so is what an unknown memory is."""
    spans = in_a_run([*RECORDS["unknown"][0], read(1, 4, "m", 0.5, 0.5)])
    settings = Settings(attribution=OWN, assumed_confidence=OWN.assumed_confidence)
    verdict = judge(catalogue_of(spans, settings), EVERYTHING, Rules(tier="1", attribution=OWN))
    (failure,) = verdict.failures
    assert ("1 below 0.55 without the hedge mark", -0.3) in {(check.detail, check.points) for check in failure.checks}
    assert "it counts as 0.45, of nobody" in failure.why
    assert failure.score == pytest.approx(1 + sum(check.points for check in failure.checks))


def test_what_was_judged_by_other_rubrics_is_refused(stories: Stories) -> None:
    """Of rubrics by which nothing was judged, nothing could fail: it is told which there are, tier by tier."""
    for tier, told in (("1", ["decisions"]), ("3", ["traces"]), ("both", ["decisions", "traces"])):
        with pytest.raises(RubricError) as refused:
            stories.verdict("cascade", Rules(tier=tier, attribution=OWN, rubric=STRICT))  # type: ignore[arg-type]
        assert [fault.partition(" ")[0] for fault in refused.value.faults] == told
    assert "by mai-attribution/1, not by own/1: the gate has to have the settings" in refused.value.faults[0]
