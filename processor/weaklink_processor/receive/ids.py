"""The ids of all spans of a payload, judged in Arrow: no Python object a span.

Only payloads that upb has parsed may come here: ptars overflows its stack on deeply nested groups.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import ptars
import pyarrow as pa
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8


class Verdict(NamedTuple):
    """How many spans a payload has, and whether the ids of every one are good."""

    spans: int
    all_good: bool


def judge(payload: bytes) -> Verdict:
    """Look at the ids of every span of a serialized ExportTraceServiceRequest."""
    requests = _READ_IDS([payload]).column(0)
    spans = requests.values.field(0).values.field(0).values
    if not len(spans):
        return Verdict(0, all_good=True)
    trace, span, parent = (spans.field(name) for name in _KEPT[Span])
    good = (
        _all_filled(trace, TRACE_ID_BYTES)
        and _all_filled(span, SPAN_ID_BYTES)
        and _all_filled_or_empty(parent, SPAN_ID_BYTES)
    )
    return Verdict(len(spans), good)


def fault(span: Span) -> str | None:
    """What is wrong with the ids of one span."""
    if len(span.trace_id) != TRACE_ID_BYTES or not any(span.trace_id):
        return f"trace_id all zero or not {TRACE_ID_BYTES} bytes"
    if len(span.span_id) != SPAN_ID_BYTES or not any(span.span_id):
        return f"span_id all zero or not {SPAN_ID_BYTES} bytes"
    if len(span.parent_span_id) not in (0, SPAN_ID_BYTES):
        return f"parent_span_id neither empty nor {SPAN_ID_BYTES} bytes"
    return None


def _lengths(column: pa.BinaryArray) -> npt.NDArray[np.int32]:
    _, offsets, _ = column.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(column) + 1)
    return bounds[1:] - bounds[:-1]


def _all_filled_or_empty(column: pa.BinaryArray, length: int) -> bool:
    """Whether every value has `length` bytes or none; here all zero is a value like another."""
    lengths = _lengths(column)
    return bool(((lengths == 0) | (lengths == length)).all())


def _all_filled(column: pa.BinaryArray, length: int) -> bool:
    """Whether every value has `length` bytes, which are not all zero."""
    if (_lengths(column) != length).any():
        return False
    _, _, data = column.buffers()
    words = np.frombuffer(data, np.uint64, len(column) * length // 8).reshape(len(column), -1)
    return bool(words.any(axis=1).all())


_KEPT: Final[dict[type[Message], tuple[str, ...]]] = {
    ExportTraceServiceRequest: ("resource_spans",),
    ResourceSpans: ("scope_spans",),
    ScopeSpans: ("spans",),
    Span: ("trace_id", "span_id", "parent_span_id"),
}


def _reduced(message: type[Message], fields: tuple[str, ...]) -> DescriptorProto:
    """OTLP's own message with nothing but `fields`: the rest becomes unknown, and so is skipped."""
    whole = DescriptorProto()
    message.DESCRIPTOR.CopyToProto(whole)
    return DescriptorProto(name=whole.name, field=[field for field in whole.field if field.name in fields])


def _reader() -> Callable[[list[bytes]], pa.RecordBatch]:
    package = Span.DESCRIPTOR.file.package
    messages = [_reduced(message, fields) for message, fields in _KEPT.items()]
    pool = DescriptorPool()
    pool.Add(FileDescriptorProto(name="weaklink/ids.proto", package=package, syntax="proto3", message_type=messages))
    request = pool.FindMessageTypeByName(f"{package}.{ExportTraceServiceRequest.DESCRIPTOR.name}")
    read: Callable[[list[bytes]], pa.RecordBatch] = (
        ptars.HandlerPool([request.file]).get_for_message(request).list_to_record_batch
    )
    return read


_READ_IDS: Final = _reader()
