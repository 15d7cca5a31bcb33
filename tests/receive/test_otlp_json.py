"""OTLP JSON to protobuf, held against JSON that this file writes from the same messages."""

import base64
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from weaklink_processor.errors import BadData
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.otlp_json import to_protobuf

LIMITS = Limits()
UINT32, UINT64, INT64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def key_values(values: st.SearchStrategy[AnyValue]) -> st.SearchStrategy[KeyValue]:
    return st.builds(KeyValue, key=TEXT, value=values)


VALUES: st.SearchStrategy[AnyValue] = st.recursive(
    st.one_of(
        st.just(AnyValue()),
        st.builds(AnyValue, string_value=TEXT),
        st.builds(AnyValue, bool_value=st.booleans()),
        st.builds(AnyValue, int_value=INT64),
        st.builds(AnyValue, double_value=st.floats()),
        st.builds(AnyValue, bytes_value=st.binary(max_size=9)),
    ),
    lambda inner: st.one_of(
        st.builds(AnyValue, array_value=st.builds(ArrayValue, values=st.lists(inner, max_size=3))),
        st.builds(AnyValue, kvlist_value=st.builds(KeyValueList, values=st.lists(key_values(inner), max_size=3))),
    ),
    max_leaves=4,
)


ATTRIBUTES = st.lists(key_values(VALUES), max_size=3)
IDS = st.binary(max_size=17)  # the length of an id is not for the transcoder to judge
EVENTS = st.builds(Span.Event, time_unix_nano=UINT64, name=TEXT, attributes=ATTRIBUTES, dropped_attributes_count=UINT32)
LINKS = st.builds(Span.Link, trace_id=IDS, span_id=IDS, trace_state=TEXT, attributes=ATTRIBUTES, flags=UINT32)
SPANS = st.builds(
    Span,
    trace_id=IDS,
    span_id=IDS,
    parent_span_id=IDS,
    trace_state=TEXT,
    name=TEXT,
    kind=st.integers(-(2**31), 2**31 - 1),
    start_time_unix_nano=UINT64,
    end_time_unix_nano=UINT64,
    attributes=ATTRIBUTES,
    dropped_attributes_count=UINT32,
    events=st.lists(EVENTS, max_size=2),
    links=st.lists(LINKS, max_size=2),
    status=st.one_of(st.none(), st.builds(Status, message=TEXT, code=st.sampled_from([0, 1, 2, 7]))),
    flags=UINT32,
)
SCOPES = st.builds(
    ScopeSpans,
    scope=st.one_of(st.none(), st.builds(InstrumentationScope, name=TEXT, version=TEXT, attributes=ATTRIBUTES)),
    spans=st.lists(SPANS, max_size=2),
    schema_url=TEXT,
)
RESOURCES = st.builds(
    ResourceSpans,
    resource=st.one_of(st.none(), st.builds(Resource, attributes=ATTRIBUTES, dropped_attributes_count=UINT32)),
    scope_spans=st.lists(SCOPES, max_size=2),
)
REQUESTS = st.builds(ExportTraceServiceRequest, resource_spans=st.lists(RESOURCES, max_size=2))


class Writer:
    """Writes messages as OTLP JSON, each value in one of the ways the format allows, as `draw` picks."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def message(self, message: Message) -> dict[str, object]:
        written = {field.json_name: self._field(field, value) for field, value in message.ListFields()}
        noise = {"unknownField": {"deep": [None, 1]}, "trace_id": "snake case is unknown", "schemaUrl": None}
        extra = self._draw(st.sets(st.sampled_from(sorted(noise)), max_size=2))
        return {name: noise[name] for name in extra if name not in written} | written

    def _field(self, field: Any, value: Any) -> object:
        if field.is_repeated:
            return [self._value(field, item) for item in value]
        return self._value(field, value)

    def _value(self, field: Any, value: Any) -> object:
        if field.message_type is not None:
            return self.message(value)
        if isinstance(value, bytes):
            return self._bytes(field.name, value)
        if isinstance(value, float):
            return self._float(value)
        if isinstance(value, int) and not isinstance(value, bool) and field.enum_type is None:
            return self._one_of(value, str(value))
        return value

    def _bytes(self, name: str, value: bytes) -> str:
        if name.endswith("_id"):
            return str(self._one_of(value.hex(), value.hex().upper(), value.hex().title()))
        standard, url_safe = base64.b64encode(value).decode(), base64.urlsafe_b64encode(value).decode()
        return str(self._one_of(standard, url_safe, standard.rstrip("="), url_safe.rstrip("=")))

    def _float(self, value: float) -> object:
        if math.isfinite(value):
            return self._one_of(
                value,
                repr(value),
                *([int(value)] if value.is_integer() and abs(value) < 2**53 and math.copysign(1, value) > 0 else []),
            )
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")

    def _one_of(self, *ways: object) -> object:
        return self._draw(st.sampled_from(ways))


@settings(max_examples=60)
@given(REQUESTS, st.data())
def test_json_and_protobuf_say_the_same(request_: ExportTraceServiceRequest, data: st.DataObject) -> None:
    """Every message, written as JSON in whatever way the format allows, is read back as that message."""
    written = json.dumps(Writer(data.draw).message(request_), ensure_ascii=data.draw(st.booleans())).encode()
    read = ExportTraceServiceRequest.FromString(to_protobuf(written, LIMITS))
    # NaN is no equal of itself, but its bytes are
    assert read.SerializeToString(deterministic=True) == normal(request_).SerializeToString(deterministic=True)


def normal(request_: ExportTraceServiceRequest) -> ExportTraceServiceRequest:
    """JSON has but one NaN: put it where there is any."""
    copy = ExportTraceServiceRequest.FromString(request_.SerializeToString())
    pending: list[Message] = [copy]
    while pending:
        message = pending.pop()
        for field, value in message.ListFields():
            if isinstance(value, float) and math.isnan(value):
                setattr(message, field.name, math.nan)
            if field.message_type is not None:
                pending.extend(value if field.is_repeated else [value])
    return copy


def span_json(**members: object) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [members]}]}]}).encode()


def attribute_json(value: object) -> bytes:
    return span_json(attributes=[{"key": "k", "value": value}])


def read_span(body: bytes) -> Span:
    return ExportTraceServiceRequest.FromString(to_protobuf(body, LIMITS)).resource_spans[0].scope_spans[0].spans[0]


@pytest.mark.parametrize(
    ("members", "span"),
    [
        ({}, Span()),
        ({"name": None, "attributes": None, "kind": None, "status": None}, Span()),
        ({"status": {}}, Span(status=Status())),
        ({"name": "first", "Name": "second", "start_time_unix_nano": 1}, Span(name="first")),
        ({"traceId": "aBcD"}, Span(trace_id=b"\xab\xcd")),
        ({"name": "cut \ud83d, whole \U0001f600"}, Span(name="cut \ufffd, whole \U0001f600")),
        ({"startTimeUnixNano": "18446744073709551615", "endTimeUnixNano": 18446744073709551615},
         Span(start_time_unix_nano=2**64 - 1, end_time_unix_nano=2**64 - 1)),
        ({"flags": 3.0, "droppedEventsCount": "7"}, Span(flags=3, dropped_events_count=7)),
        ({"kind": 99}, Span(kind=99)),  # type: ignore[arg-type]  # an open enum: a later OTLP may know it
    ],
)  # fmt: skip
def test_members(members: Mapping[str, object], span: Span) -> None:
    """Null is unset, an empty object is not; names are lowerCamelCase only; numbers may be strings."""
    assert read_span(span_json(**members)) == span


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": ""}, AnyValue(string_value="")),
        ({"boolValue": False}, AnyValue(bool_value=False)),
        ({"intValue": "-9223372036854775808"}, AnyValue(int_value=-(2**63))),
        ({"intValue": 1e300}, AnyValue(double_value=1e300)),
        ({"intValue": 2**63}, AnyValue(double_value=2.0**63)),
        ({"intValue": -(2.0**63)}, AnyValue(int_value=-(2**63))),
        ({"doubleValue": 1}, AnyValue(double_value=1.0)),
        ({"doubleValue": "-Infinity"}, AnyValue(double_value=-math.inf)),
        ({"doubleValue": "1e-3"}, AnyValue(double_value=0.001)),
        ({"bytesValue": "-_8"}, AnyValue(bytes_value=b"\xfb\xff")),
        ({"arrayValue": {}}, AnyValue(array_value=ArrayValue())),
        ({"kvlistValue": {"values": []}}, AnyValue(kvlist_value=KeyValueList())),
        ({"stringValue": "s", "intValue": None}, AnyValue(string_value="s")),
        ({}, AnyValue()),
    ],
)
def test_attribute_values(value: object, expected: AnyValue) -> None:
    """A value that is empty or zero is still of its type; a number too large for an integer is a double."""
    assert read_span(attribute_json(value)).attributes[0].value == expected


SPAN_PATH = "resourceSpans[0].scopeSpans[0].spans[0]"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"{", "not JSON: Expecting property name"),
        (b'{"resourceSpans": []} x', "not JSON: Extra data: line 1 column 23 (char 22)"),
        (b'{"resourceSpans": NaN}', "not JSON: NaN stands without quotes"),
        (b"\xff{}", "not JSON: 'utf-8' codec can't decode byte 0xff"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON: Exceeds the limit"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a":' * 100_000, "nested too deep"),
        (b"null", "request: expected an object, got None"),
        (b"[]", "request: expected an object, got []"),
        (b'{"resourceSpans": {}}', "resourceSpans: expected an array, got {}"),
        (b'{"resourceSpans": [null]}', "resourceSpans[0]: expected an object, got None"),
        (b'{"resourceSpans": [{}, {"resource": 1}]}', "resourceSpans[1].resource: expected an object, got 1"),
        (span_json(name=1), f"{SPAN_PATH}.name: expected a string, got 1"),
        (span_json(traceId="xyz"), f"{SPAN_PATH}.traceId: expected hex digits, two a byte, got 'xyz'"),
        (span_json(traceId="abc"), f"{SPAN_PATH}.traceId: expected hex digits, two a byte, got 'abc'"),
        (span_json(spanId="ab cd"), f"{SPAN_PATH}.spanId: expected hex digits, two a byte, got 'ab cd'"),
        (span_json(parentSpanId=12), f"{SPAN_PATH}.parentSpanId: expected hex digits, two a byte, got 12"),
        (span_json(links=[{"traceId": "!!"}]), f"{SPAN_PATH}.links[0].traceId: expected hex digits, two a byte"),
        (span_json(kind="SPAN_KIND_SERVER"), f"{SPAN_PATH}.kind: expected an enum's integer, got 'SPAN_KIND_SERVER'"),
        (span_json(kind="2"), f"{SPAN_PATH}.kind: expected an enum's integer, got '2'"),
        (span_json(kind=True), f"{SPAN_PATH}.kind: expected an enum's integer, got True"),
        (span_json(kind=2**31), f"{SPAN_PATH}.kind: expected an enum's integer, got 2147483648"),
        (span_json(flags=-1), f"{SPAN_PATH}.flags: expected an integer in the field's range, got -1"),
        (span_json(flags=1.5), f"{SPAN_PATH}.flags: expected an integer in the field's range, got 1.5"),
        (span_json(startTimeUnixNano="1_0"), f"{SPAN_PATH}.startTimeUnixNano: expected an integer in"),
        (span_json(startTimeUnixNano=" 1"), f"{SPAN_PATH}.startTimeUnixNano: expected an integer in"),
        (span_json(startTimeUnixNano="18446744073709551616"), f"{SPAN_PATH}.startTimeUnixNano: expected an integer in"),
        (attribute_json({"boolValue": 1}), f"{SPAN_PATH}.attributes[0].value.boolValue: expected true or false, got 1"),
        (attribute_json({"boolValue": "true"}), ".boolValue: expected true or false, got 'true'"),
        (attribute_json({"intValue": "9223372036854775808"}), ".intValue: expected an integer in the field's range"),
        (attribute_json({"intValue": 10**400}), ".intValue: expected a number"),
        (attribute_json({"intValue": 1.5}), ".intValue: expected an integer in the field's range, got 1.5"),
        (attribute_json({"doubleValue": "nan"}), "expected a number, NaN, Infinity or -Infinity, got 'nan'"),
        (attribute_json({"doubleValue": "0x1"}), ".doubleValue: expected a number"),
        (attribute_json({"doubleValue": True}), ".doubleValue: expected a number"),
        (attribute_json({"doubleValue": 10**400}), ".doubleValue: expected a number"),
        (attribute_json({"doubleValue": "1e999"}), ".doubleValue: expected a number"),
        (attribute_json({"doubleValue": 1}).replace(b": 1}", b": 1e999}"), ".doubleValue: expected a number"),
        (attribute_json({"bytesValue": "a"}), ".bytesValue: expected base64, got 'a'"),
        (attribute_json({"bytesValue": "aGkh!"}), ".bytesValue: expected base64, got 'aGkh!'"),
        (attribute_json({"bytesValue": "a b="}), ".bytesValue: expected base64, got 'a b='"),
        (attribute_json("v"), f"{SPAN_PATH}.attributes[0].value: expected an object, got 'v'"),
    ],
)  # fmt: skip
def test_faults(body: bytes, complaint: str) -> None:
    """What is not OTLP JSON is BadData that says where and what."""
    with pytest.raises(BadData) as caught:
        to_protobuf(body, LIMITS)
    assert complaint in str(caught.value)


def test_a_fault_is_told_briefly() -> None:
    """However large the faulty value, the error stays short."""
    with pytest.raises(BadData) as caught:
        to_protobuf(span_json(kind="x" * 1_000_000, name="n"), LIMITS)
    assert len(str(caught.value)) < 200


def nested(depth: int) -> bytes:
    """An attribute value of arrays inside each other."""
    value: object = {"stringValue": "core"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return attribute_json(value)


def test_nesting_is_limited() -> None:
    """Objects and arrays inside each other are counted, and one too many is refused."""
    outside = 10  # from the request to the value, arrays included
    body = nested(3)
    assert read_span(body).attributes[0].value.array_value.values[0].array_value.values[0].array_value.values
    to_protobuf(body, Limits(depth=outside + 3 * 3))
    with pytest.raises(BadData, match=r"more than 18, and the limit is 18 .receiver.limits.depth."):
        to_protobuf(body, Limits(depth=outside + 3 * 3 - 1))
    with pytest.raises(BadData, match="objects and arrays"):
        to_protobuf(nested(50), LIMITS)
