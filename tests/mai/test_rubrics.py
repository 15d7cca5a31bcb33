"""Rubrics from a config: what is taken, and what each fault says."""

import pytest

from weaklink_analysis import RUBRICS, Rubric, RubricError, rubric_from
from weaklink_analysis.mai.rubrics import rubrics_from

OWN: dict[str, object] = {"name": "team/1", "weights": {"confidence_populated": 2, "cycle": 0.5}}

FAULTS: dict[str, tuple[dict[str, object], str]] = {
    "no name": ({"weights": {"cycle": 1}}, "a rubric without a name: name: is missing"),
    "an empty name": (OWN | {"name": " "}, "name: ' ' must be a text that is not empty"),
    "no weights": ({"name": "team/1"}, "team/1: weights: is missing"),
    "no checks": (OWN | {"weights": {}}, "weights: {} must name at least one check with its weight"),
    "weights that are a list": (OWN | {"weights": ["cycle"]}, "weights: ['cycle'] must name at least one check"),
    "a check nobody knows": (OWN | {"weights": {"cycles": 1}}, "weights.cycles: 1 is for no check there is"),
    "a weight of nothing": (OWN | {"weights": {"cycle": 0}}, "weights.cycle: 0 must be a number above 0"),
    "a weight without end": (OWN | {"weights": {"cycle": float("inf")}}, "weights.cycle: inf must be a number above"),
    "a weight that is true": (OWN | {"weights": {"cycle": True}}, "weights.cycle: True must be a number above 0"),
    "a share over 1": (OWN | {"agent_share": 90}, "agent_share: 90 must be a number from 0 to 1"),
    "a share that is text": (OWN | {"low": "0.4"}, "low: '0.4' must be a number from 0 to 1"),
    "a share that is no number": (OWN | {"low": float("nan")}, "low: nan must be a number from 0 to 1"),
    "half a hop": (OWN | {"max_depth": 2.5}, "max_depth: 2.5 must be a whole number from 0 on"),
    "deeper than is looked": (OWN | {"max_depth": 6}, "max_depth: 6 is more than max_hops (5)"),
    "low above confident": (OWN | {"low": 0.7}, "low: 0.7 is more than confident (0.6)"),
    "counting nobody knows": (OWN | {"counting": "traces"}, "counting: 'traces' must be one of operations, spans"),
    "a field nobody knows": (OWN | {"weight": 1}, "team/1: weight: 1 is for no field that a rubric has"),
}  # fmt: skip


def test_plain_data_is_a_rubric() -> None:
    """What is left out has the defaults of mai-structural/1."""
    made = rubric_from(OWN | {"low": 0.3, "max_depth": 2})
    plain = RUBRICS["mai-structural/1"]
    assert made == Rubric("team/1", plain.evaluation, {"confidence_populated": 2.0, "cycle": 0.5}, low=0.3, max_depth=2)
    assert made.findings == ("cycle",)


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_names_the_field_and_the_value(case: str) -> None:
    """Each fault is refused with a message to act on."""
    data, message = FAULTS[case]
    with pytest.raises(RubricError) as raised:
        rubric_from(data)
    assert len(raised.value.faults) == 1
    assert message in str(raised.value)


def test_all_faults_are_told_at_once() -> None:
    """Those of one rubric, and those of all of a config."""
    bad = {"name": "bad/1", "weights": {"cycles": 0}, "low": 2}
    with pytest.raises(RubricError) as raised:
        rubrics_from([bad, OWN, OWN, OWN | {"low": 0.1}, OWN | {"name": "memledger/2.0"}])
    assert [fault.partition(": ")[0] for fault in raised.value.faults] == [*["bad/1"] * 3, "team/1", "memledger/2.0"]


def test_configured_rubrics_join_the_built_in_ones() -> None:
    """By name, after them."""
    assert list(rubrics_from([OWN])) == [*RUBRICS, "team/1"]
    assert rubrics_from([OWN | {"max_depth": 8}], max_hops=8)["team/1"].max_depth == 8


def test_low_may_reach_confident() -> None:
    """Then no confidence is in between."""
    assert rubric_from(OWN | {"low": 0.6}).low == 0.6


def test_a_rubric_made_in_code_is_valid_too() -> None:
    """No invalid rubric can be made."""
    with pytest.raises(RubricError, match=r"mine/1: weights\.typo: 1\.0 is for no check"):
        Rubric("mine/1", "e", {"typo": 1.0})
