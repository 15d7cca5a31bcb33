"""OTLP requests for tests: spans as plain values, made into the generated protobuf classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

Value = str | bool | int | float | Sequence["Value"] | Mapping[str, "Value"]

SECOND = 1_000_000_000
DAWN = 1_790_000_000 * SECOND
"""A moment in 2026, in nanoseconds."""


@dataclass(frozen=True)
class S:
    """A span. Numbers stand for ids (trace 7 is 00..07); start and end are seconds after DAWN."""

    trace: int
    span: int
    name: str = "op"
    parent: int = 0
    start: float = 0.0
    end: float = 0.0
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: bool = False
    service: str = "svc"
    environment: str = ""
    namespace: str = ""
    links: Sequence[Mapping[str, Value]] = ()
    """Attributes of each link, all of them to another trace."""
    events: Sequence[tuple[str, Mapping[str, Value]]] = ()
    """Name and attributes of each."""


def write(trace: int, span: int, memory: str, confidence: Value | None, at: float = 0.0, **more: object) -> S:
    """A memledger write of a memory, ended `at`."""
    return _memory("add", trace, span, memory, confidence, at, **more)


def read(trace: int, span: int, memory: str, confidence: Value | None, at: float = 0.0, **more: object) -> S:
    """A memledger read that names a memory."""
    return _memory("recall", trace, span, memory, confidence, at, **more)


def _memory(  # noqa: PLR0917
    verb: str, trace: int, span: int, memory: str, confidence: Value | None, at: float, **more: object
) -> S:
    parents = more.pop("parents", ())
    agent, session, hedged = more.pop("agent", "a"), more.pop("session", "s"), more.pop("hedged", False)
    attributes = {
        "memledger.memory.operation": verb,
        "memledger.memory.id": memory,
        "memledger.memory.confidence": confidence,
        "memledger.memory.source_agent_id": agent,
        "memledger.memory.session_id": session,
        "memledger.memory.hedged": hedged,
        "memledger.memory.parent_ids": "[" + ",".join(f'"{parent}"' for parent in parents) + "]",  # type: ignore[attr-defined]
    }
    carried = {key: value for key, value in attributes.items() if value is not None}
    return S(trace, span, f"memledger.memory.{verb}", start=at, end=at, attributes=carried, **more)  # type: ignore[arg-type]


def trace_id(number: int) -> bytes:
    """16 bytes."""
    return number.to_bytes(16)


def span_id(number: int) -> bytes:
    """8 bytes."""
    return number.to_bytes(8)


def request(spans: Iterable[S]) -> ExportTraceServiceRequest:
    """One request with a resource for each span."""
    message = ExportTraceServiceRequest()
    for s in spans:
        resource = message.resource_spans.add()
        resource.resource.attributes.append(_key_value("service.name", s.service))
        if s.namespace:
            resource.resource.attributes.append(_key_value("service.namespace", s.namespace))
        if s.environment:
            resource.resource.attributes.append(_key_value("deployment.environment.name", s.environment))
        resource.scope_spans.add().spans.append(_span(s))
    return message


def payload(spans: Iterable[S]) -> bytes:
    """One request, serialized."""
    return request(spans).SerializeToString()


def _span(s: S) -> Span:
    return Span(
        trace_id=trace_id(s.trace),
        span_id=span_id(s.span),
        parent_span_id=span_id(s.parent) if s.parent else b"",
        name=s.name,
        start_time_unix_nano=DAWN + int(s.start * SECOND),
        end_time_unix_nano=DAWN + int(s.end * SECOND),
        attributes=_key_values(s.attributes),
        status=Status(code=Status.STATUS_CODE_ERROR) if s.error else None,
        links=[Span.Link(trace_id=trace_id(9), span_id=span_id(9), attributes=_key_values(link)) for link in s.links],
        events=[Span.Event(name=name, attributes=_key_values(attributes)) for name, attributes in s.events],
    )


def _key_values(attributes: Mapping[str, Value]) -> list[KeyValue]:
    return [_key_value(key, value) for key, value in attributes.items()]


def _key_value(key: str, value: Value) -> KeyValue:
    return KeyValue(key=key, value=_any_value(value))


def _any_value(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case Mapping():
            return AnyValue(kvlist_value=KeyValueList(values=_key_values(value)))
    return AnyValue(array_value=ArrayValue(values=map(_any_value, value)))
