"""Tests of the agents. The last one fails, and its message says why: `pytest examples/agent_tests`."""

from oncall import Memory, act, confirm, diagnose, triage

from weaklink_processor.testing.mai import Mai


def test_a_cause_that_was_measured_is_acted_on(mai: Mai) -> None:
    """What triage is sure of may be acted on."""
    memory = Memory()
    triage(memory, "the connection pool is exhausted", confidence=0.9)
    diagnose(memory)
    act(memory)
    assert memory.notes["change"].text == "did: mend that the connection pool is exhausted"
    mai.assert_passes(min_score=0.7)


def test_a_guess_that_was_confirmed_is_acted_on(mai: Mai) -> None:
    """A guess may be acted on once somebody has confirmed it."""
    memory = Memory()
    triage(memory, "the connection pool is exhausted", confidence=0.3)
    confirm(memory, confidence=0.9)
    diagnose(memory)
    act(memory)
    mai.assert_passes(min_score=0.7)


def test_a_guess_is_acted_on(mai: Mai) -> None:
    """Nobody did anything wrong, and the agents are now confidently wrong: this test fails."""
    memory = Memory()
    triage(memory, "the connection pool is exhausted", confidence=0.3)
    diagnose(memory)
    act(memory)
    assert memory.notes["change"].confidence > 0.9
    mai.assert_passes(min_score=0.7)
