"""Evaluations as values, and the spans that tell of them."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import pyarrow as pa
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_analysis.evaluation import EVALUATION_SCHEMA
from weaklink_processor.emit.evaluator import evaluator_spans

_IDS = ("trace_id", "span_id")


@dataclass(frozen=True)
class Evaluation:
    """A row of EVALUATION_SCHEMA, its ids in hex."""

    name: str
    scope: str
    trace_id: str
    span_id: str
    session_id: str
    environment: str
    service_name: str
    score: float | None
    passed: bool | None
    label: str
    explanation: str
    rubric: str
    revision: int
    annotator_kind: str
    evaluated_at: datetime
    record_ids: str
    framework: str
    metadata: str | None = None
    """None: as much of it as a reader has to know."""

    def as_row(self) -> dict[str, object]:
        """Return the row."""
        row = asdict(self) | {name: bytes.fromhex(getattr(self, name)) for name in _IDS}
        if self.metadata is None:
            known = {"rubric": self.rubric, "scope": self.scope, "revision": self.revision}
            row["metadata"] = json.dumps(known, separators=(",", ":"))  # as DuckDB writes JSON
        return row


STRUCTURAL = Evaluation(
    name="memory_attribution_integrity_structural",
    scope="trace",
    trace_id="0af7651916cd43dd8448eb211c80319c",
    span_id="b7ad6b7169203331",
    session_id="incident-42",
    environment="production",
    service_name="triage",
    score=0.7,
    passed=True,
    label="pass",
    explanation="Passed (1/2): source_agent_present. Failed (1/2): no_low_confidence_unhedged — 1 record",
    rubric="mai-structural/1",
    revision=2,
    annotator_kind="CODE",
    evaluated_at=datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
    record_ids="m-1,m-2",
    framework="structural",
)


def rows(*evaluations: Evaluation) -> pa.Table:
    """Return them as a table of EVALUATION_SCHEMA."""
    return pa.Table.from_pylist([each.as_row() for each in evaluations], EVALUATION_SCHEMA)


def values(table: pa.Table) -> list[Evaluation]:
    """Return the rows of a table of EVALUATION_SCHEMA."""
    return [Evaluation(**row | {name: row[name].hex() for name in _IDS}) for row in table.to_pylist()]


def evaluator_span(evaluation: Evaluation) -> Span:
    """Return the one span that tells of it."""
    (span,) = evaluator_spans(rows(evaluation)).column("span").to_pylist()
    return Span.FromString(span)
