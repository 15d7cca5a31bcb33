"""Evaluation -> EVALUATOR span, a pure function.

Attribute names: memledger's evaluators (`eval.*`), OpenInference (`openinference.span.kind`,
`annotations.0.annotation.*`) and OpenTelemetry GenAI (the event `gen_ai.evaluation.result`).
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_analysis.evaluation import Evaluation

_Value = str | bool | float

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIELDS: Mapping[type, str] = {str: "string_value", bool: "bool_value"}
"""Of an AnyValue, by type; what is neither is a number."""
_OUTCOMES = {True: "pass", False: "fail", None: None}


def evaluator_span(evaluation: Evaluation) -> Span:
    """Return the span that tells a backend of this revision; null scores have no score, passed or outcome attribute."""
    trace_id, target = bytes.fromhex(evaluation.trace_id), bytes.fromhex(evaluation.span_id)
    time = _unix_nano(evaluation.evaluated_at)
    span = Span(
        trace_id=trace_id,
        span_id=evaluator_span_id(evaluation),
        # GenAI events: an evaluation SHOULD be parented to the span it evaluates; without a parent
        # it would be a second root, and backends would take it for the head of the trace.
        parent_span_id=target,
        name=f"evaluators.mai_{evaluation.framework}",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=time,
        end_time_unix_nano=time,
        links=[Span.Link(trace_id=trace_id, span_id=target)],
    )
    _fill(span.attributes, _eval(evaluation) | _annotation(evaluation))
    _fill(span.events.add(time_unix_nano=time, name="gen_ai.evaluation.result").attributes, _gen_ai(evaluation))
    return span


def evaluator_span_id(evaluation: Evaluation) -> bytes:
    """Return 8 bytes, never all zero, that depend on the evaluation's key and revision only."""
    key = [
        evaluation.name,
        evaluation.scope,
        *_target(evaluation),
        evaluation.rubric,
        evaluation.annotator_kind,
        evaluation.revision,
    ]
    digest = hashlib.sha256(json.dumps(key).encode()).digest()
    return (int.from_bytes(digest[:8]) or 1).to_bytes(8)


def _target(evaluation: Evaluation) -> tuple[str, ...]:
    match evaluation.scope:
        case "trace":  # its target span moves when the root is seen late
            return (evaluation.trace_id,)
        case "session":
            return (evaluation.environment, evaluation.session_id)
        case _:
            return (evaluation.trace_id, evaluation.span_id)


def _eval(evaluation: Evaluation) -> dict[str, _Value | None]:
    return {
        "openinference.span.kind": "EVALUATOR",
        "eval.name": evaluation.name,
        "eval.score": evaluation.score,
        "eval.passed": evaluation.passed,
        "eval.outcome": _OUTCOMES[evaluation.passed],
        "eval.framework": evaluation.framework,
        "eval.record_ids": ",".join(evaluation.record_ids) or None,
        "session.id": evaluation.session_id or None,
    }


def _annotation(evaluation: Evaluation) -> dict[str, _Value | None]:
    values = {
        "name": evaluation.name,
        "score": evaluation.score,
        "label": evaluation.label,
        "explanation": evaluation.explanation or None,
        "annotator_kind": evaluation.annotator_kind,
        "identifier": evaluation.rubric,
        "metadata": _metadata(evaluation),
    }
    return {f"annotations.0.annotation.{key}": value for key, value in values.items()}


def _metadata(evaluation: Evaluation) -> str:
    values = {
        "rubric": evaluation.rubric,
        "scope": evaluation.scope,
        "revision": evaluation.revision,
        "threshold": evaluation.threshold,
        "score_effective": evaluation.score_effective,
        "span_count": evaluation.span_count,
        # Not asdict, which copies deeply: it would take a third of the time that a span takes.
        "checks": [
            {"name": check.name, "passed": check.passed, "weight": check.weight, "detail": check.detail}
            for check in evaluation.checks
        ],
    }
    return json.dumps(values, ensure_ascii=False)


def _gen_ai(evaluation: Evaluation) -> dict[str, _Value | None]:
    return {
        "gen_ai.evaluation.name": evaluation.name,
        "gen_ai.evaluation.score.value": evaluation.score,
        "gen_ai.evaluation.score.label": evaluation.label,
        "gen_ai.evaluation.explanation": evaluation.explanation or None,
    }


def _fill(pairs: RepeatedCompositeFieldContainer[KeyValue], attributes: Mapping[str, _Value | None]) -> None:
    # In place: a message of its own for each pair and each value would take twice as long.
    for key, value in attributes.items():
        if value is not None:
            setattr(pairs.add(key=key).value, _FIELDS.get(type(value), "double_value"), value)


def _unix_nano(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1) * 1000
