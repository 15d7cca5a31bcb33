"""EVALUATOR span -> Phoenix annotation, a pure function: both say the same.

https://arize.com/docs/phoenix/sdk-api-reference/rest-api/overview
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_processor.emit.feed import OutboxRow

PATHS = {
    "trace_id": "/v1/trace_annotations",
    "span_id": "/v1/span_annotations",
    "session_id": "/v1/session_annotations",
}
"""The member of an annotation that says what it is about -> where it is posted."""

TARGETS = {"trace": "trace_id", "decision": "span_id", "session": "session_id"}

_PREFIX = "annotations.0.annotation."
_RESULT = ("label", "score", "explanation")
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON has it; PostgreSQL, where Phoenix may keep it, takes none


@dataclass(frozen=True, slots=True)
class Annotation:
    """An evaluation as Phoenix takes it.

    Phoenix keeps one of each name, target and identifier: a newer revision takes the place of an older one.
    """

    seq: int  # of the outbox
    kind: str  # trace_id | span_id | session_id
    target: str
    name: str
    identifier: str
    content: str  # a JSON object

    @property
    def key(self) -> tuple[str, ...]:
        """What Phoenix keeps one of."""
        return self.kind, self.target, self.name, self.identifier


def annotation(row: OutboxRow) -> Annotation:
    """Return what the row's EVALUATOR span says."""
    span = Span.FromString(row.span)
    told = {each.key: _value(each.value) for each in span.attributes}
    mine = {key.removeprefix(_PREFIX): value for key, value in told.items() if key.startswith(_PREFIX)}
    metadata = json.loads(mine["metadata"])
    kind = TARGETS[metadata["scope"]]
    ids = {
        "trace_id": span.trace_id.hex(),
        "span_id": span.parent_span_id.hex(),
        "session_id": told.get("session.id", ""),
    }
    target = ids[kind]
    # Phoenix has a session of one id once, whatever the environment.
    place = f" {row.environment}" if kind == "session_id" and row.environment else ""
    identifier = f"{mine['identifier']}{place}"
    content = {
        kind: target,
        "name": mine["name"],
        "annotator_kind": mine["annotator_kind"],
        "identifier": identifier,
        "result": {key: mine.get(key) for key in _RESULT},
        "metadata": metadata,
    }
    text = _NUL.sub(r"\1\\ufffd", json.dumps(content, ensure_ascii=False))
    return Annotation(row.seq, kind, target, mine["name"], identifier, text)


def annotation_request(annotations: Sequence[Annotation]) -> bytes:
    """Return the body that posts these, which are all of one kind."""
    return f'{{"data": [{", ".join(each.content for each in annotations)}]}}'.encode()


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value") or "string_value")
