"""The evaluation record: one revision of one verdict on a decision, a trace or a session."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Check:
    """One named test of a rubric and how it came out."""

    name: str
    passed: bool
    weight: float
    detail: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One revision, keyed by (name, scope, target, rubric, annotator_kind).

    trace_id and span_id are lower-case hex and name the target span. A target that ceased to be one
    has null scores, `passed` None and the label `not_evaluable`.
    """

    name: str
    scope: str  # decision | trace | session
    trace_id: str
    span_id: str
    session_id: str  # '' for none, as environment and service_name
    environment: str
    service_name: str
    score: float | None  # 0 to 1, as score_effective and threshold
    score_effective: float | None
    threshold: float
    passed: bool | None
    label: str  # pass | fail | not_evaluable
    explanation: str
    rubric: str
    revision: int  # 1, 2, ...
    annotator_kind: str  # CODE | LLM | HUMAN
    evaluated_at: datetime  # aware
    span_count: int
    record_ids: tuple[str, ...]
    framework: str  # deterministic | structural | llm
    checks: tuple[Check, ...]
