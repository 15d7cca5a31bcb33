"""Tier 1: the table of criteria, on declared and on effective confidence."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis import ATTRIBUTION, ReliedOn, evaluate_attribution_integrity, evaluate_decision

GOOD = ReliedOn(declared=0.9, effective=0.9, author="a", has_session=True)
SHARES = st.sampled_from([0.0, 0.1, 0.3999, 0.4, 0.5, 0.5999, 0.6, 0.95, 1.0]) | st.floats(0, 1)


@st.composite
def relied_on(draw: st.DrawFn) -> ReliedOn:
    declared = draw(SHARES)
    return ReliedOn(
        declared=declared,
        effective=min(declared, draw(SHARES)),
        author=draw(st.sampled_from([None, "a", "b"])),
        has_session=draw(st.booleans()),
        hedged=draw(st.booleans()),
    )


def score(*records: ReliedOn, decision: float | None = None, truncated: bool = False, effective: bool = False) -> float:
    result = evaluate_decision(records, decision, truncated=truncated, effective=effective)
    assert result is not None
    return result.score


CRITERIA = {
    "nothing amiss": ([GOOD], 1.0),
    "one of two without an author": ([GOOD, replace(GOOD, author=None)], 0.8),
    "just low": ([replace(GOOD, declared=0.39), GOOD], 0.75),
    "just not low": ([replace(GOOD, declared=0.4), GOOD], 0.9),
    "just flagged": ([replace(GOOD, declared=0.59), GOOD], 0.9),
    "just confident": ([replace(GOOD, declared=0.6)], 1.0),
    "low and hedged": ([replace(GOOD, declared=0.3, hedged=True), GOOD], 1.0),
    "low mean": ([replace(GOOD, declared=0.3, hedged=True)], 0.85),
    "half with a session": ([GOOD, replace(GOOD, has_session=False)], 1.0),
    "a third with a session": ([GOOD, *[replace(GOOD, has_session=False)] * 2], 0.9),
    "two authors make good for a little": (
        [replace(GOOD, declared=0.5), GOOD, replace(GOOD, author="b")], 0.95,
    ),
    "no lower than nothing": ([ReliedOn(0.0, 0.0)] * 3, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("case", CRITERIA)
def test_each_criterion_takes_its_points(case: str) -> None:
    """The table of semantics: each criterion at its limit and beyond it, clamped to 0 and 1."""
    records, expected = CRITERIA[case]
    assert score(*records) == expected


def test_the_chain_takes_its_points() -> None:
    """A decision memory below 0.4 costs 0.20, a truncated chain 0.05; neither is known without a decision memory."""
    assert score(GOOD, decision=0.4) == 1.0
    assert score(GOOD, decision=0.39) == 0.8
    assert score(GOOD, decision=0.39, truncated=True) == 0.75
    assert score(GOOD) == 1.0


def test_the_contaminated_chain_is_seen_on_effective_confidence_only() -> None:
    """The seed's case: an action at 0.95 on a diagnosis at 0.85 on a guess at 0.30 looks good by what it declares."""
    diagnosis = ReliedOn(declared=0.85, effective=0.30, author="diagnosis", has_session=True)
    assert score(diagnosis, decision=0.30) == 0.8
    assert score(diagnosis, decision=0.30, effective=True) == 0.4
    assert score(diagnosis, effective=True) == 0.4, "the lowest relied on counts where there is no decision memory"
    assert score(GOOD, decision=0.30, effective=True) == 0.8, "and the decision memory where it is lower"


def test_a_decision_that_relied_on_nothing_is_not_evaluable() -> None:
    """It has no score; the reference's function, called with an empty list, says 0.0."""
    assert evaluate_decision([]) is None
    empty = evaluate_attribution_integrity("d", [], threshold=0.0)
    assert (empty.score, empty.passed, empty.details) == (0.0, False, {"error": "no_retrieved_memories"})


def test_the_verdict_is_taken_before_rounding() -> None:
    """A score of 0.86666... does not pass at 0.8667, though it is shown as that."""
    records = [GOOD, GOOD, replace(GOOD, author=None)]
    result = evaluate_decision(records, threshold=0.8667)
    assert result is not None
    assert (result.score, result.passed) == (0.8667, False)


def test_weights_are_data() -> None:
    """Other numbers give other scores; a criterion of no points is not mentioned."""
    lenient = replace(ATTRIBUTION, name="mine/1", low_unhedged=0.0)
    result = evaluate_decision([replace(GOOD, declared=0.3), GOOD], attribution=lenient)
    assert result is not None
    assert (result.score, result.details["penalties"]) == (1.0, [])


def test_results_are_plain_data() -> None:
    """to_dict gives the fields by name."""
    result = evaluate_attribution_integrity("d", [{"created_by": "a"}])
    assert result.to_dict() == {name: getattr(result, name) for name in type(result).__slots__}


@given(st.lists(relied_on(), min_size=1, max_size=6), st.none() | SHARES, st.booleans())
def test_scores_are_shares_and_effective_is_never_higher(
    records: list[ReliedOn],
    decision: float | None,
    truncated: bool,  # noqa: FBT001 - drawn
) -> None:
    """Scores are in [0, 1]; as no effective confidence is above what was declared, neither is the score."""
    declared = score(*records, decision=decision, truncated=truncated)
    effective = score(*records, decision=decision, truncated=truncated, effective=True)
    assert 0 <= effective <= declared <= 1


@given(st.lists(relied_on(), min_size=1, max_size=6), SHARES)
def test_a_hedge_never_costs(records: list[ReliedOn], decision: float) -> None:
    """Marking every record as hedged takes nothing off."""
    hedged = [replace(record, hedged=True) for record in records]
    assert score(*hedged, decision=decision) >= score(*records, decision=decision)


@given(st.lists(relied_on(), min_size=1, max_size=6))
def test_records_and_decisions_are_scored_alike(records: list[ReliedOn]) -> None:
    """A record that is declared so scores as the relied-on memory of the service."""
    shown = [
        {"confidence": r.declared, "created_by": r.author, "session_id": "s" * r.has_session, "hedged": r.hedged}
        for r in records
    ]
    result = evaluate_decision(records)
    assert evaluate_attribution_integrity("d", shown) == replace(result)  # type: ignore[type-var]
