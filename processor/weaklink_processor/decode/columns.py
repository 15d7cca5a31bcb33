"""The columns that each level of a request gives to the span batch: resource, scope, span, event, link.

Every function takes the structs of its level as ptars read them (descriptor.py) and the level's
decoded attributes, and names its columns as weaklink_analysis.spans does.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from weaklink_analysis.batch import pick_attributes
from weaklink_analysis.namespace import joined
from weaklink_analysis.spans import EVENT, LINK, TIME
from weaklink_processor.decode.attributes import Attributes
from weaklink_processor.decode.ids import hex_text, span_numbers, trace_uuids

Columns: TypeAlias = dict[str, pa.Array]

_KINDS: Final[Mapping[int, str]] = {number: name.removeprefix("SPAN_KIND_") for name, number in Span.SpanKind.items()}
_STATUS_CODES: Final[Mapping[int, str]] = {
    number: name.removeprefix("STATUS_CODE_") for name, number in Status.StatusCode.items()
}

_SERVICE: Final = "service.name"
_NAMESPACE: Final = "service.namespace"
_ENVIRONMENT: Final = ("deployment.environment.name", "deployment.environment")  # the older name last

_SPAN_COUNTS: Final = ("dropped_attributes_count", "dropped_events_count", "dropped_links_count")


def resource_columns(resource_spans: pa.StructArray, attributes: Attributes, *, by_namespace: bool) -> Columns:
    """A row for each ResourceSpans. `by_namespace`: an environment is one of its namespace."""
    picked = pick_attributes(attributes.texts, [_SERVICE, _NAMESPACE, *_ENVIRONMENT]).combine_chunks()
    environment = pc.coalesce(*(picked[key] for key in _ENVIRONMENT), "")
    if by_namespace:
        environment = joined(pc.coalesce(picked[_NAMESPACE], ""), environment)
    return {
        "service_name": pc.coalesce(picked[_SERVICE], ""),
        "environment": environment,
        "resource_attributes": attributes.texts,
        "resource_attribute_types": attributes.types,
        "resource_schema_url": resource_spans.field("schema_url"),
    }


def scope_columns(scope_spans: pa.StructArray, attributes: Attributes) -> Columns:
    """A row for each ScopeSpans."""
    scope = scope_spans.field("scope")
    return {
        "scope_name": scope.field("name"),
        "scope_version": scope.field("version"),
        "scope_attributes": attributes.texts,
        "scope_attribute_types": attributes.types,
        "scope_schema_url": scope_spans.field("schema_url"),
    }


def span_columns(spans: pa.StructArray, attributes: Attributes) -> Columns:
    """A row for each Span: what is the span's own, but for its events and links."""
    status = spans.field("status")
    start, end = spans.field("start_time_unix_nano"), spans.field("end_time_unix_nano")
    parent = spans.field("parent_span_id")
    return {
        "trace_id": hex_text(spans.field("trace_id")),
        "span_id": hex_text(spans.field("span_id")),
        "parent_span_id": pc.if_else(pa.array(span_numbers(parent) != 0), hex_text(parent), None),
        "kind": _names(spans.field("kind"), _KINDS),
        "start_time": _time(start),
        "end_time": _time(end),
        "start_unix_nano": start,
        "end_unix_nano": end,
        "status_code": _names(status.field("code"), _STATUS_CODES),
        "status_message": status.field("message"),
        "attributes": attributes.texts,
        "attribute_types": attributes.types,
        **_as_sent(spans, ("name", "trace_state", "flags", *_SPAN_COUNTS)),
    }


def key_columns(spans: pa.StructArray) -> Columns:
    """The ids of each Span as KEY_SCHEMA has them. Raises ValueError for one of a wrong length."""
    return {
        "trace": trace_uuids(spans.field("trace_id")),
        "span": pa.array(span_numbers(spans.field("span_id"))),
        "parent": pa.array(span_numbers(spans.field("parent_span_id"))),
    }


def event_column(events: pa.ListArray, attributes: Attributes) -> pa.ListArray:
    """The spans' `events`, from list<Event> and the attributes of the flattened events."""
    flat = events.flatten()
    columns = _as_sent(flat, ("time_unix_nano", "name", "dropped_attributes_count"))
    return _lists(events, EVENT, columns, attributes)


def link_column(links: pa.ListArray, attributes: Attributes) -> pa.ListArray:
    """The spans' `links`, from list<Link> and the attributes of the flattened links."""
    flat = links.flatten()
    columns = _as_sent(flat, ("trace_state", "flags", "dropped_attributes_count"))
    columns |= {name: hex_text(flat.field(name)) for name in ("trace_id", "span_id")}
    return _lists(links, LINK, columns, attributes)


def _as_sent(structs: pa.StructArray, names: Iterable[str]) -> Columns:
    return {name: structs.field(name) for name in names}


def _lists(lists: pa.ListArray, item: pa.StructType, columns: Columns, attributes: Attributes) -> pa.ListArray:
    columns = {**columns, "attributes": attributes.texts, "attribute_types": attributes.types}
    items = pa.StructArray.from_arrays([columns[field.name] for field in item], fields=list(item))
    return pa.ListArray.from_arrays(lists.offsets, items, type=pa.list_(item))


def _names(numbers: pa.Int32Array, names: Mapping[int, str]) -> pa.StringArray:
    """An enum's names; a number that has none stays a number."""
    distinct = numbers.dictionary_encode()
    texts = [names.get(number, str(number)) for number in distinct.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(distinct.indices)


def _time(nanoseconds: pa.UInt64Array) -> pa.TimestampArray:
    # The largest uint64 of nanoseconds is in the year 2554: microseconds always fit.
    microseconds = nanoseconds.to_numpy() // np.uint64(1000)
    return pa.TimestampArray.from_buffers(TIME, len(microseconds), [None, pa.py_buffer(microseconds)])
