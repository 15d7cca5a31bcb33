from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis.scoring import (
    SCORING,
    Scoring,
    Signals,
    combined,
    confirmed,
    derived,
    extractor_confidence,
    grounded,
    repetition_boost,
    source_strength,
    type_prior,
)

CLOSE = 1e-9
LEVELS = {"direct": "0.95", "confirmation": "0.80", "strong inference": "0.70", "weak-inference": "0.50"} | {
    "Speculation": "0.30",
    "user_message": "0.95",
    "tool output": "0.70",
    "retrieved_document": "0.50",
    "Model Inference": "0.30",
}
MODELS = {"claude-sonnet-4-5": "0.90", "Claude 3 Opus": "0.90", "claude-3-haiku": "0.80", "gpt-4o": "0.85"} | {
    "openai/gpt-3.5-turbo": "0.65",
    "mistral-large": "0.65",
}
PRIORS = {"Entity": "0.90", "event": "0.85", "fact": "0.80", "preference": "0.75", "relation": "0.70"} | {
    "semantic": "0.75",
    "": "0.75",
}


def boost(n: int) -> Decimal:
    return 1 - 1 / (1 + Decimal(1 + n).ln())


def sum_of(s: Decimal, n: int, e: Decimal, t: Decimal) -> Decimal:
    return min(Decimal(1), Decimal("0.45") * s + Decimal("0.20") * boost(n) + Decimal("0.25") * e + Decimal("0.10") * t)


SIGNALS = st.builds(
    Signals,
    st.lists(st.sampled_from(sorted(LEVELS)), min_size=1, max_size=4).map(tuple),
    st.integers(0, 10**9),
    st.sampled_from(sorted(MODELS)),
    st.lists(st.floats(-20, 0), max_size=6).map(tuple),
    st.sampled_from(sorted(PRIORS)),
    st.booleans(),
    st.none() | st.floats(0, 1),
)


@given(SIGNALS)
def test_it_equals_the_formula_in_decimals(told: Signals) -> None:
    """Whatever the signals, the derived confidence is that of the formula computed in decimals, to 1e-9."""
    kind, penalty = told.memory_type or "", told.grounding_penalty
    s, t = max(Decimal(LEVELS[source]) for source in told.sources), Decimal(PRIORS[kind])
    e = Decimal(MODELS[told.model or ""])
    if told.logprobs:
        e = (sum(map(Decimal, told.logprobs), Decimal(0)) / len(told.logprobs)).exp()
    expected = sum_of(s, told.observations, e, t)
    if told.confirmed:
        expected = min(Decimal("0.99"), sum_of(max(s, Decimal("0.80")), told.observations + 1, e, t))
    if penalty is not None:
        expected = max(Decimal(0), expected - Decimal(penalty))
    found = derived(told)
    assert found is not None
    assert abs(Decimal(found.confidence) - expected) < CLOSE
    assert found.type_uncertain == (kind in {"semantic", ""})
    assert found.below_floor == (penalty is not None and found.confidence < 0.3)


def test_the_worked_example() -> None:
    """A direct statement, the third of its kind, extracted by Haiku, of a preference: 0.82 at two places."""
    example = derived(Signals(("direct",), 3, "claude-haiku", memory_type="preference"))
    assert example is not None
    assert (round(example.repetition, 3), round(example.confidence, 2)) == (0.581, 0.82)
    assert round(example.confidence, 4) == 0.8187


def test_without_a_source_nothing_is_derived() -> None:
    """How directly a fact was stated weighs most, and has no default: without it there is no confidence."""
    assert derived(Signals(())) is None
    assert derived(Signals(("slack", ""), 9, "claude-opus", memory_type="fact")) is None
    assert source_strength(["slack", "speculation"]) == 0.30


def test_of_several_turns_the_strongest_counts() -> None:
    """Hedged, clarified, confirmed: the strength is the strongest turn's, not their average."""
    assert source_strength(["weak_inference", "confirmation", "confirmation"]) == 0.80


def test_the_extractor_is_known_by_its_logprobs_before_its_name() -> None:
    """The geometric mean of the tokens' probabilities counts before the table; the longest part of a name in it."""
    assert extractor_confidence("claude-sonnet", [-0.1, -0.3]) == pytest.approx(0.818730753, abs=CLOSE)
    own = Scoring(extractors={"gpt-4": 0.85, "gpt-4o-mini": 0.65})
    assert (extractor_confidence("gpt-4o-mini", scoring=own), extractor_confidence("gpt-4o", scoring=own)) == (
        0.65,
        0.85,
    )
    assert extractor_confidence() == SCORING.unknown_extractor


def test_a_confirmation_never_makes_certain() -> None:
    """It raises the source to 0.80 and the count by one, and never gives more than 0.99, nor less than before."""
    assert confirmed(0.30, 1, 0.9, 0.9) == combined(0.80, repetition_boost(2), 0.9, 0.9)
    assert confirmed(0.95, 10**9, 1.0, 1.0) < confirmed(1.0, 10**300, 1.0, 1.0) == 0.99
    assert confirmed(0.95, 1, 0.9, 0.9) > combined(0.95, repetition_boost(1), 0.9, 0.9)


def test_a_partial_grounding_costs_its_penalty() -> None:
    """What is left is told with whether it is below the floor of 0.3, and is never below 0."""
    low, high = grounded(0.30, 0.20), grounded(0.9, 0.20)
    assert (round(low[0], 9), low[1], round(high[0], 9), high[1]) == (0.1, True, 0.7, False)
    assert grounded(0.1, 0.5) == (0.0, True)


@given(st.integers(0, 10**12))
def test_the_boost_grows_and_stays_below_one(n: int) -> None:
    """More observations never lower it; none give 0 exactly; a negative count is refused."""
    assert 0 <= repetition_boost(n) <= repetition_boost(n + 1) < 1
    assert repetition_boost(0) == 0
    with pytest.raises(ValueError, match="no fewer than 0"):
        repetition_boost(-n - 1)


def test_every_number_is_configurable() -> None:
    """Weights and tables of one's own are the ones that count."""
    own = Scoring(0.1, 0.2, 0.3, 0.4, {"hearsay": 0.2}, {"tiny": 0.4}, types={"law": 1.0})
    found = derived(Signals(("Hearsay",), 0, "Tiny-1B", memory_type="Law"), own)
    assert found is not None
    assert found.confidence == pytest.approx(0.1 * 0.2 + 0.3 * 0.4 + 0.4, abs=CLOSE)
    assert type_prior("fact", own) == own.unknown_type
