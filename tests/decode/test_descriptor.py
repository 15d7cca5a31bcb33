"""The reduced descriptor against OTLP's own."""

import pytest
from google.protobuf.descriptor import Descriptor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from weaklink_processor.decode.descriptor import MESSAGES, SCALARS

OTLP: dict[str, Descriptor] = {
    "Request": ExportTraceServiceRequest.DESCRIPTOR,
    "ResourceSpans": ResourceSpans.DESCRIPTOR,
    "Resource": Resource.DESCRIPTOR,
    "ScopeSpans": ScopeSpans.DESCRIPTOR,
    "Scope": InstrumentationScope.DESCRIPTOR,
    "Span": Span.DESCRIPTOR,
    "Event": Span.Event.DESCRIPTOR,
    "Link": Span.Link.DESCRIPTOR,
    "Status": Status.DESCRIPTOR,
}
FIELDS = [(message, name, *spec) for message, fields in MESSAGES.items() for name, spec in fields.items()]


def same_type(kind: str, otlp: Descriptor, name: str) -> bool:
    field = otlp.fields_by_name[name]
    scalar = kind.removesuffix("*")
    if field.message_type is not None:
        return kind == "bytes*" or OTLP[scalar] is field.message_type
    return SCALARS[scalar] == (SCALARS["int32"] if field.enum_type else field.type)


@pytest.mark.parametrize(("message", "name", "number", "kind"), FIELDS)
def test_field_is_otlps(message: str, name: str, number: int, kind: str) -> None:
    """Each field has OTLP's number, type and repetition, but KeyValue, which is kept as bytes."""
    field = OTLP[message].fields_by_name[name]
    assert field.number == number
    assert same_type(kind, OTLP[message], name)
    assert kind.endswith("*") == field.is_repeated
    assert (kind == "bytes*") == (field.message_type is not None and field.message_type.name == "KeyValue")
