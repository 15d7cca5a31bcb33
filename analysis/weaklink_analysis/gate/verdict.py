"""What a gate is asked, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from weaklink_analysis.mai.attribution import ATTRIBUTION, Attribution
from weaklink_analysis.mai.rubrics import STRUCTURAL, Rubric

Tier = Literal["1", "3", "both"]
SEVERITIES = ("info", "warning", "error")
NOTHING = "there is nothing to judge"
"""The breach of a verdict that is empty."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is the same from run to run: who decided, which check failed, and which memory is at fault."""

    tier: Literal["1", "3"]
    environment: str
    service_name: str
    agent_id: str = ""
    check: str = ""
    """'': all that there is of this agent, or service."""
    memory: str = ""
    """Its id, with * for what looks like a number or a random part."""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean score of some decisions or traces."""

    score: float
    targets: int


@dataclass(frozen=True, slots=True)
class Regression:
    """A mean score that is lower than in the baseline; `was` None: the baseline knows no such failure."""

    key: Key
    was: float | None
    now: float


@dataclass(frozen=True, slots=True)
class Rules:
    """What traces have to hold."""

    tier: Tier = "both"
    """1: every evaluable decision, on effective confidence; 3: the structural evaluation of every trace."""
    min_score: float = ATTRIBUTION.threshold
    """In [0, 1]. Scores are rounded to 4 places before they are compared."""
    min_pass_rate: float = 1.0
    """Of the evaluable decisions, and of the traces, in [0, 1]."""
    min_traces: int = 1
    max_findings: Mapping[str, int] = field(default_factory=dict)
    """Severity or code of findings -> how many there may be."""
    rubric: Rubric = STRUCTURAL
    """By which traces are judged."""
    attribution: Attribution = ATTRIBUTION
    """By which decisions are."""
    baseline: Mapping[Key, Mean] | None = None
    """With one, not every score that is too low is a failure, but those that are lower than they were then."""
    tolerance: float = 0.05
    """How much lower a mean score may be than in the baseline."""

    @property
    def judges_decisions(self) -> bool:
        """Whether Tier 1 counts."""
        return self.tier != "3"

    @property
    def judges_traces(self) -> bool:
        """Whether Tier 3 counts."""
        return self.tier != "1"


@dataclass(frozen=True, slots=True)
class Hop:
    """A version on the way from what was relied on to its weakest ancestor. Confidences are in [0, 1]."""

    memory_id: str
    version: int | None
    """None: no version of it is known here."""
    agent_id: str | None
    """Its author."""
    declared: float | None
    effective: float | None
    is_weakest: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """A check or criterion that was not met."""

    name: str
    detail: str
    points: float
    """What it took of the score: below 0."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A decision, or a trace, whose score is too low."""

    tier: Literal["1", "3"]
    trace_id: str
    span_id: str
    """Of the decision; of a trace the span that lacks most, else its root."""
    environment: str
    service_name: str
    session_id: str
    agent_id: str | None
    """Who decided; of a trace whose span lacks most."""
    score: float
    """Of a decision that on effective confidence."""
    declared_score: float | None
    """Of a decision the score on declared confidence."""
    min_score: float
    checks: Sequence[Check]
    """The most expensive first."""
    memory_id: str | None
    """The memory at fault; None: no single one is, or its spans do not name it."""
    author: str | None
    """Who wrote that."""
    chain: Sequence[Hop]
    """From the memory that the decision wrote or relied on, or the trace used, to the one at fault; empty: unknown."""
    why: str
    mend: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many were judged, and passed."""

    judged: int = 0
    passed: int = 0

    @property
    def failed(self) -> int:
        """How many did not pass."""
        return self.judged - self.passed

    @property
    def rate(self) -> float:
        """The share that passed; 1 of none."""
        return self.passed / self.judged if self.judged else 1.0


@dataclass(frozen=True, slots=True)
class Present:
    """A service in an environment that has evaluations, where none was selected."""

    service_name: str
    environment: str
    traces: int
    decisions: int
    earliest: datetime | None
    latest: datetime | None
    """When its traces and decisions began to use memory."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the gate is passed, and why not."""

    rules: Rules
    selected: int
    """Traces."""
    traces: Tally
    decisions: Tally
    not_evaluable: int
    """Decisions that relied on no memory that is known: they count neither way."""
    failures: Sequence[Failure]
    """Decisions before traces, the lowest score first; not more than were asked for."""
    findings: Mapping[str, int] = field(default_factory=dict)
    """Those that the rules bound: severity or code -> number."""
    breaches: Sequence[str] = ()
    """Which rules are not held, in words."""
    means: Mapping[Key, Mean] = field(default_factory=dict)
    """What a later run may be compared with."""
    regressions: Sequence[Regression] = ()
    """Against the rules' baseline."""
    known: int = 0
    """Failures that the baseline has too, at least as low; they are not among `failures`."""
    present: Sequence[Present] = ()
    """What there is instead, where nothing was selected."""

    @property
    def passed(self) -> bool:
        """Whether all rules are held."""
        return not self.breaches

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to judge: then it is neither passed nor failed."""
        return not (self.traces.judged or self.decisions.judged)


def empty(rules: Rules, why: str) -> Verdict:
    """Return the verdict where there is not even a catalogue to look at."""
    return Verdict(rules, 0, Tally(), Tally(), 0, (), breaches=(f"{NOTHING}: {why}",))
