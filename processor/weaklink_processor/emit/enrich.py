"""Memory spans of a request get weaklink's numbers as attributes; every other byte stays as it came.

Parsing and serializing anew would reorder fields and re-encode values. So the wire format is walked down to the
spans, attributes are appended to those that get some, and only the lengths of what encloses them are written anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TypeAlias

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from weaklink_processor.emit.feed import MemoryNumbers, SpanKey
from weaklink_processor.emit.wire import length_delimited
from weaklink_processor.varint import varint

PREFIX = "weaklink.memory."

LookUp: TypeAlias = Callable[[SpanKey], MemoryNumbers | None]

_TO_SPANS = (
    ExportTraceServiceRequest.RESOURCE_SPANS_FIELD_NUMBER,
    ResourceSpans.SCOPE_SPANS_FIELD_NUMBER,
    ScopeSpans.SPANS_FIELD_NUMBER,
)


def enrich(request: bytes, look_up: LookUp) -> bytes:
    """Return the request with the numbers of each span that `look_up` knows; the very same object if it knows none.

    The attributes come after all that the span has, also after some of the same names that its sender has set.
    """
    return _enriched(request, _TO_SPANS, look_up)


def span_keys(request: bytes) -> Iterator[SpanKey]:
    """Yield (trace_id, span_id) of each span of the request."""
    for resource in ExportTraceServiceRequest.FromString(request).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield span.trace_id, span.span_id


def _enriched(message: bytes, path: tuple[int, ...], look_up: LookUp) -> bytes:
    """Enrich the spans that lie at `path`, field by field, below the message."""
    if not path:
        return _enriched_span(message, look_up)
    pieces: list[bytes] = []
    written = 0
    for field in length_delimited(message):
        if field.number == path[0]:
            before = message[field.start : field.end]
            after = _enriched(before, path[1:], look_up)
            if after is not before:
                pieces += [message[written : field.after_tag], varint(len(after)), after]
                written = field.end
    return b"".join([*pieces, message[written:]]) if pieces else message


def _enriched_span(span: bytes, look_up: LookUp) -> bytes:
    # A field that is there twice has the last of its values.
    content = {field.number: span[field.start : field.end] for field in length_delimited(span)}
    key = content.get(Span.TRACE_ID_FIELD_NUMBER, b""), content.get(Span.SPAN_ID_FIELD_NUMBER, b"")
    numbers = look_up(key)
    return span + _attributes(numbers) if numbers else span


def _attributes(numbers: MemoryNumbers) -> bytes:
    """Return the attributes as fields of a Span."""
    values = {name: value for name, value in asdict(numbers).items() if value is not None}
    attributes = [KeyValue(key=PREFIX + name, value=_any_value(value)) for name, value in values.items()]
    # Serialized messages, put end to end, are their merger.
    return Span(attributes=attributes).SerializeToString()


def _any_value(value: str | float) -> AnyValue:
    match value:
        case str():
            return AnyValue(string_value=value)
        case int():
            return AnyValue(int_value=value)
        case _:
            return AnyValue(double_value=value)
