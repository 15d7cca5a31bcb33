"""The ids of spans: of one, or of all of a payload, judged in Arrow, no Python object a span."""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_processor.receive.census import IDS

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8
NO_TRACE, NO_SPAN = bytes(TRACE_ID_BYTES), bytes(SPAN_ID_BYTES)


def all_good(spans: pa.StructArray) -> bool:
    """Whether the ids of every span are good."""
    if not len(spans):
        return True
    trace, span, parent = (spans.field(name) for name in IDS)
    return (
        _all_filled(trace, TRACE_ID_BYTES)
        and _all_filled(span, SPAN_ID_BYTES)
        and _all_filled_or_empty(parent, SPAN_ID_BYTES)
    )


def fault(span: Span) -> str | None:
    """What is wrong with the ids of one span."""
    trace_id, span_id = span.trace_id, span.span_id
    if len(trace_id) != TRACE_ID_BYTES or trace_id == NO_TRACE:
        return f"trace_id all zero or not {TRACE_ID_BYTES} bytes"
    if len(span_id) != SPAN_ID_BYTES or span_id == NO_SPAN:
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
