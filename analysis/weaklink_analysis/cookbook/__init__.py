"""Questions that people ask of their traces at work, one `.sql` file each: a title, a sentence, and one statement.

Where a question has a period, it says so as `TIME BETWEEN now() - INTERVAL N DAY AND now()`, and the length of its
steps as `INTERVAL 'N hours'`: a dashboard puts its own there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

COOKBOOK = {
    "How sound are decisions?": (
        "mai_over_time",
        "pass_rate_over_time",
        "changed_since_yesterday",
        "worst_traces_today",
        "weakest_sessions",
        "verdicts_that_changed",
        "environments_compared",
    ),
    "What is contaminated?": (
        "contamination_leaderboard",
        "sound_only_on_paper",
        "declared_and_effective",
        "gate_counts",
        "untrustworthy_and_read",
        "chain_depths",
    ),
    "Which agents?": ("inflated_claims", "agents_judged", "readers_and_authors"),
    "What becomes of memories?": (
        "memory_types",
        "feedback",
        "replaced_and_read",
        "stale_reads",
        "confidence_sources",
    ),
    "What is missing or wrong?": (
        "failing_checks",
        "findings_over_time",
        "instrumentation_gaps",
        "not_evaluable",
        "unresolved_parents",
    ),
    "How much, and how fast?": ("traffic", "memory_latency"),
}
"""The files' names, by what they are about."""


@dataclass(frozen=True, slots=True)
class Question:
    """One file."""

    name: str
    title: str
    text: str
    """What the answer is good for."""
    sql: str


def question(name: str) -> Question:
    """Read one; its leading comments are the title, and below it the text."""
    lines = (files(__name__) / f"{name}.sql").read_text("utf-8").splitlines()
    comments = [line.removeprefix("-- ") for line in lines if line.startswith("--")]
    return Question(name, comments[0], " ".join(comments[1:]), "\n".join(lines[len(comments) :]))


def questions() -> Sequence[Question]:
    """All of them, in the cookbook's order."""
    return [question(name) for names in COOKBOOK.values() for name in names]
