import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis.scoring import SCORING, access_boost, freshness


@pytest.mark.parametrize(("kind", "days"), SCORING.half_lives.items())
def test_a_half_life_halves(kind: str, days: float) -> None:
    """At the half-life of its type a memory is half as fresh, at twice that a quarter."""
    assert (freshness(0, kind), freshness(days, kind), freshness(2 * days, kind)) == (1.0, 0.5, 0.25)


@given(st.floats(-1e6, 1e6), st.sampled_from([*SCORING.half_lives, None, "semantic"]))
def test_it_equals_an_exponential_with_a_floor(age: float, kind: str | None) -> None:
    """It is e^(-ln 2 x age / half-life), at least 0.1, at most 1; an unknown type ages as a fact does."""
    half_life = {"entity": 365, "event": 30, "preference": 90}.get(kind or "", 180)
    expected = math.exp(-math.log(2) * max(age, 0) / half_life)
    assert freshness(age, kind) == pytest.approx(max(expected, 0.1), abs=1e-9)


def test_reads_count_less_and_less() -> None:
    """1 + ln(1 + n): none give 1, 4 give 2.609; a negative count is refused."""
    assert (access_boost(0), round(access_boost(4), 3)) == (1.0, 2.609)
    with pytest.raises(ValueError, match="no fewer than 0"):
        access_boost(-1)
