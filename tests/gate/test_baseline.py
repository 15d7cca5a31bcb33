"""What is compared from run to run."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from gate.told import Stories, cascade
from weaklink_analysis.gate.verdict import Key, Mean, Rules, Verdict

RUNS = {
    "before": cascade(1),
    "again": cascade(7),
    "renamed": cascade(1, prefix="0f8fad5b-d9cb-469f-a165-70867728950e/"),
    "worse": cascade(1, 0.2),
    "well": cascade(1, 0.9),
}
Judged = Callable[..., Verdict]


@pytest.fixture(scope="module")
def judged() -> Judged:
    """The verdict on a run, as if all were of one environment."""
    stories = Stories(RUNS)

    def verdict(name: str, rules: Rules | None = None) -> Verdict:
        if rules and rules.baseline is not None:
            known = {replace(key, environment=name): mean for key, mean in rules.baseline.items()}
            rules = replace(rules, baseline=known)
        found = stories.verdict(name, rules)
        return replace(found, means={replace(key, environment=""): mean for key, mean in found.means.items()})

    return verdict


def test_keys_are_the_same_in_the_next_run(judged: Judged) -> None:
    """Other traces, and ids that end in another number or are random, are the same failure."""
    assert judged("before").means == judged("again").means
    assert {key.memory for key in judged("before").means} == {"", "triage-*"}
    assert {key.memory for key in judged("renamed").means} == {"", "*/triage-*"}


def test_what_was_known_does_not_fail(judged: Judged) -> None:
    """A run like the one before passes, and its failures are counted as known; without the baseline it fails."""
    verdict = judged("again", Rules(baseline=judged("before").means))
    assert (verdict.passed, verdict.known, verdict.failures, verdict.regressions) == (True, 2, (), ())
    assert not judged("again").passed


@pytest.mark.parametrize(
    ("run", "tolerance", "passes"), [("again", 0, True), ("worse", 0.05, True), ("worse", 0.04, False)]
)
def test_only_what_is_lower_than_the_tolerance_fails(judged: Judged, run: str, tolerance: float, passes: bool) -> None:  # noqa: FBT001
    """At 0.2 in place of 0.3 the mean of each agent's decisions is 0.05 lower."""
    verdict = judged(run, Rules(baseline=judged("before").means, tolerance=tolerance))
    assert verdict.passed == passes
    assert all(one.was is not None and one.now < one.was for one in verdict.regressions)


def test_what_the_baseline_does_not_know_is_held_to_the_score(judged: Judged) -> None:
    """A new failure fails, and says whose it is; a new agent that does well does not."""
    verdict = judged("before", Rules(baseline=judged("well").means))
    assert not verdict.passed
    assert {one.key.agent_id for one in verdict.regressions} >= {"action", "diagnosis"}
    assert len(verdict.failures) == 2
    assert judged("well", Rules(baseline={})).passed


def test_a_baseline_does_not_waive_other_rules(judged: Judged) -> None:
    """How many traces there have to be, and how many findings may be, hold all the same."""
    means = judged("before").means
    assert not judged("again", Rules(baseline=means, min_traces=2)).passed
    assert not judged("again", Rules(baseline=means, max_findings={"warning": 0})).passed


def test_a_group_is_known_by_its_mean(judged: Judged) -> None:
    """Of all that an agent decided, and of what fails by the same check and memory."""
    means = judged("before").means
    assert means[Key("1", "", "svc", "action")] == Mean(0.4, 1)
    assert means[Key("1", "", "svc", "action", "chain_confidence", "triage-*", "triage")] == Mean(0.4, 1)
    assert means[Key("3", "", "svc")].score >= 0.7
