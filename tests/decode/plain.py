"""A plain reading of requests through the generated protobuf classes: what decode() must equal."""

import base64
import json
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

Row = dict[str, Any]
Entries = Sequence[KeyValue]

KINDS = dict(enumerate(["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]))
STATUS_CODES = dict(enumerate(["UNSET", "OK", "ERROR"]))


def number_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value).replace("inf", "Infinity")


def plain(value: AnyValue) -> Any:
    match value.WhichOneof("value"):
        case None | "string_value_strindex":
            return None
        case "bytes_value":
            return {"$bytes": base64.b64encode(value.bytes_value).decode()}
        case "double_value" if not math.isfinite(value.double_value):
            return {"$double": number_text(value.double_value)}
        case "array_value":
            return [plain(item) for item in value.array_value.values]
        case "kvlist_value":
            members: dict[str, Any] = {}
            for item in value.kvlist_value.values:
                members.setdefault(item.key, plain(item.value))
            return members
        case kind:
            return getattr(value, str(kind))


def text_and_code(value: AnyValue) -> tuple[str, str]:
    read = plain(value)
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value, "s"
        case "bool_value":
            return str(value.bool_value).lower(), "b"
        case "int_value":
            return str(value.int_value), "i"
        case "double_value":
            return number_text(value.double_value), "d"
        case "bytes_value":
            return read["$bytes"], "y"
        case _:
            code = {list: "a", dict: "k", type(None): "n"}[type(read)]
            return "" if read is None else json.dumps(read, ensure_ascii=False, separators=(",", ":")), code


def attributes(entries: Entries, prefix: str = "attribute") -> Row:
    read = [(entry.key, *text_and_code(entry.value)) for entry in entries]
    return {
        f"{prefix}s": [(key, text) for key, text, _ in read],
        f"{prefix}_types": "".join(code for _, _, code in read),
    }


def first_text(entries: Entries, *keys: str) -> str:
    for key in keys:
        for entry in entries:
            if entry.key == key:
                return text_and_code(entry.value)[0]
    return ""


def instant(nanoseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)


def event_row(event: Span.Event) -> Row:
    return {
        "time_unix_nano": event.time_unix_nano,
        "name": event.name,
        "dropped_attributes_count": event.dropped_attributes_count,
        **attributes(event.attributes),
    }


def link_row(link: Span.Link) -> Row:
    return {
        "trace_id": link.trace_id.hex(),
        "span_id": link.span_id.hex(),
        "trace_state": link.trace_state,
        "flags": link.flags,
        "dropped_attributes_count": link.dropped_attributes_count,
        **attributes(link.attributes),
    }


def span_row(resource_spans: ResourceSpans, scope_spans: ScopeSpans, span: Span) -> Row:
    resource, scope = resource_spans.resource, scope_spans.scope
    return {
        "trace_id": span.trace_id.hex(),
        "span_id": span.span_id.hex(),
        "parent_span_id": span.parent_span_id.hex() if any(span.parent_span_id) else None,
        "name": span.name,
        "kind": KINDS.get(span.kind, str(span.kind)),
        "start_time": instant(span.start_time_unix_nano),
        "end_time": instant(span.end_time_unix_nano),
        "start_unix_nano": span.start_time_unix_nano,
        "end_unix_nano": span.end_time_unix_nano,
        "status_code": STATUS_CODES.get(span.status.code, str(span.status.code)),
        "status_message": span.status.message,
        "trace_state": span.trace_state,
        "flags": span.flags,
        "service_name": first_text(resource.attributes, "service.name"),
        "environment": first_text(resource.attributes, "deployment.environment.name", "deployment.environment"),
        **attributes(span.attributes),
        "dropped_attributes_count": span.dropped_attributes_count,
        "events": [event_row(event) for event in span.events],
        "dropped_events_count": span.dropped_events_count,
        "links": [link_row(link) for link in span.links],
        "dropped_links_count": span.dropped_links_count,
        "scope_name": scope.name,
        "scope_version": scope.version,
        **attributes(scope.attributes, "scope_attribute"),
        "scope_schema_url": scope_spans.schema_url,
        **attributes(resource.attributes, "resource_attribute"),
        "resource_schema_url": resource_spans.schema_url,
    }


def key_row(request: int, span: Span) -> Row:
    return {
        "request": request,
        "trace": UUID(bytes=span.trace_id),
        "span": int.from_bytes(span.span_id),
        "parent": int.from_bytes(span.parent_span_id),
    }


def read_plainly(requests: Sequence[bytes]) -> tuple[list[Row], list[Row]]:
    """(span rows, key rows) as decode() is to give them."""
    found = list(_spans(requests))
    return (
        [span_row(resource_spans, scope_spans, span) for _, resource_spans, scope_spans, span in found],
        [key_row(request, span) for request, _, _, span in found],
    )


def _spans(requests: Sequence[bytes]) -> Iterator[tuple[int, ResourceSpans, ScopeSpans, Span]]:
    for number, request in enumerate(requests):
        for resource_spans in ExportTraceServiceRequest.FromString(request).resource_spans:
            for scope_spans in resource_spans.scope_spans:
                for span in scope_spans.spans:
                    yield number, resource_spans, scope_spans, span
