"""Evaluations -> EVALUATOR spans, a pure function, of many at a time.

Attribute names: memledger's evaluators (`eval.*`), OpenInference (`openinference.span.kind`,
`annotations.0.annotation.*`) and OpenTelemetry GenAI (the event `gen_ai.evaluation.result`).
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_processor.emit.columns import Column, delimited, fixed64, flag, message, together

ISSUED_SCHEMA = pa.schema(
    [
        ("trace_id", pa.binary()),
        ("span_id", pa.uint64()),
        ("span", pa.large_binary()),  # serialized
        ("service_name", pa.large_string()),  # whom the evaluation judges, and where
        ("environment", pa.large_string()),
        ("scope", pa.large_string()),
    ]
)

_TARGETS: Mapping[str, Sequence[str]] = {
    "trace": ("trace_id",),  # its target span moves when the root is seen late
    "decision": ("trace_id", "span_id"),
    "session": ("environment", "session_id"),
}
"""What an evaluation is about, by scope."""

_ID_BYTES = 8
_PASS, _FAIL = (pa.scalar(outcome, pa.large_string()) for outcome in ("pass", "fail"))
_INTERNAL = Span(kind=Span.SPAN_KIND_INTERNAL).SerializeToString()
_RESULT = Span.Event(name="gen_ai.evaluation.result").SerializeToString()
_NANOSECONDS = 1000  # in a microsecond


def evaluator_spans(evaluations: pa.Table) -> pa.Table:
    """Return an ISSUED_SCHEMA row for each of EVALUATION_SCHEMA: the span that tells a backend of this revision.

    Null scores have no score, passed or outcome attribute.
    """
    of = {name: evaluations.column(name).combine_chunks() for name in evaluations.column_names}
    ids = _span_ids(of)
    issued = {**of, "span_id": pa.array(ids), "span": _spans(of, ids)}
    return pa.table({name: issued[name] for name in ISSUED_SCHEMA.names}, ISSUED_SCHEMA)


def _span_ids(of: Mapping[str, pa.Array]) -> NDArray[np.uint64]:
    """Numbers above zero that depend on each evaluation's key and revision only."""
    key = [of[name] for name in ("name", "scope", "rubric", "annotator_kind")]
    for name in ("trace_id", "span_id", "environment", "session_id"):
        has_it = pc.is_in(of["scope"], pa.array([scope for scope, target in _TARGETS.items() if name in target]))
        key.append(pc.if_else(has_it, of[name], pa.scalar(None, of[name].type)))
    fields = (delimited(number, part) for number, part in enumerate(key, 2))
    keys = message(fixed64(1, of["revision"]), *fields).to_pylist()
    digests = b"".join(hashlib.sha256(key).digest()[:_ID_BYTES] for key in keys)
    return np.maximum(np.frombuffer(digests, ">u8").astype(np.uint64), 1)


def _spans(of: Mapping[str, pa.Array], span_ids: NDArray[np.uint64]) -> pa.Array:
    ids = pa.Array.from_buffers(pa.binary(_ID_BYTES), len(span_ids), [None, pa.py_buffer(span_ids.astype(">u8"))])
    moments = pc.multiply(of["evaluated_at"].cast(pa.int64()), _NANOSECONDS)
    link = message(
        delimited(Span.Link.TRACE_ID_FIELD_NUMBER, of["trace_id"]),
        delimited(Span.Link.SPAN_ID_FIELD_NUMBER, of["span_id"]),
    )
    told = {
        "gen_ai.evaluation.name": of["name"],
        "gen_ai.evaluation.score.value": of["score"],
        "gen_ai.evaluation.score.label": of["label"],
        "gen_ai.evaluation.explanation": of["explanation"],
    }
    event = message(
        _RESULT,
        fixed64(Span.Event.TIME_UNIX_NANO_FIELD_NUMBER, moments),
        *_attributes(Span.Event.ATTRIBUTES_FIELD_NUMBER, told),
    )
    return message(
        delimited(Span.TRACE_ID_FIELD_NUMBER, of["trace_id"]),
        delimited(Span.SPAN_ID_FIELD_NUMBER, ids),
        # GenAI events: an evaluation SHOULD be parented to the span it evaluates; without a parent
        # it would be a second root, and backends would take it for the head of the trace.
        delimited(Span.PARENT_SPAN_ID_FIELD_NUMBER, of["span_id"]),
        delimited(Span.NAME_FIELD_NUMBER, message(b"evaluators.mai_", of["framework"])),
        _INTERNAL,
        fixed64(Span.START_TIME_UNIX_NANO_FIELD_NUMBER, moments),
        fixed64(Span.END_TIME_UNIX_NANO_FIELD_NUMBER, moments),
        *_attributes(Span.ATTRIBUTES_FIELD_NUMBER, _eval(of) | _annotation(of)),
        delimited(Span.EVENTS_FIELD_NUMBER, event),
        delimited(Span.LINKS_FIELD_NUMBER, link),
    )


def _eval(of: Mapping[str, pa.Array]) -> dict[str, pa.Array | str]:
    return {
        "openinference.span.kind": "EVALUATOR",
        "eval.name": of["name"],
        "eval.score": of["score"],
        "eval.passed": of["passed"],
        "eval.outcome": pc.if_else(of["passed"], _PASS, _FAIL),
        "eval.framework": of["framework"],
        "eval.record_ids": of["record_ids"],
        "session.id": of["session_id"],
    }


def _annotation(of: Mapping[str, pa.Array]) -> dict[str, pa.Array | str]:
    values = {
        "name": of["name"],
        "score": of["score"],
        "label": of["label"],
        "explanation": of["explanation"],
        "annotator_kind": of["annotator_kind"],
        "identifier": of["rubric"],
        "metadata": of["metadata"],
    }
    return {f"annotations.0.annotation.{key}": value for key, value in values.items()}


def _attributes(number: int, values: Mapping[str, pa.Array | str]) -> Iterator[Column]:
    """Yield the fields of this number that hold the attributes; nulls and empty texts are left out."""
    for key, value in values.items():
        if isinstance(value, str):
            pair: Column = KeyValue(key=key, value=AnyValue(string_value=value)).SerializeToString()
        else:
            content = delimited(KeyValue.VALUE_FIELD_NUMBER, _ANY_VALUE[value.type](value))
            pair = together(KeyValue(key=key).SerializeToString(), content)
        yield delimited(number, pair)


def _text(values: pa.Array) -> Column:
    told = pc.if_else(pc.equal(values, ""), pa.scalar(None, pa.large_string()), values)
    return delimited(AnyValue.STRING_VALUE_FIELD_NUMBER, told)


_ANY_VALUE: Mapping[pa.DataType, Callable[[pa.Array], Column]] = {
    pa.large_string(): _text,
    pa.bool_(): partial(flag, AnyValue.BOOL_VALUE_FIELD_NUMBER),
    pa.float64(): partial(fixed64, AnyValue.DOUBLE_VALUE_FIELD_NUMBER),
}
"""How an AnyValue holds a column of this type."""
