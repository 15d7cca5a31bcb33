"""How much a payload has, counted in Arrow: no Python object a span, but for arrays and mappings in very large ones.

Only payloads that upb has parsed may come here, as reduced.py says.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass
from typing import Final, Self

import numpy as np
import pyarrow as pa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from weaklink_processor.receive import tags
from weaklink_processor.receive.limits import Limits, over
from weaklink_processor.receive.reduced import reader

IDS: Final = ("trace_id", "span_id", "parent_span_id")

_PARTS: Final = {"attributes": "span_attributes", "events": "span_events", "links": "span_links"}
ReadList = Callable[[bytes], ArrayValue | KeyValueList]
_LISTS: Final[dict[str | None, ReadList]] = {
    "array_value": ArrayValue.FromString,
    "kvlist_value": KeyValueList.FromString,
}
_LIST_TAGS: Final = (b"\x2a", b"\x32", b"\xaa", b"\xb2")  # how they begin in a value; as in tags.py


@dataclass(frozen=True, slots=True)
class Census:
    """How much there is; items: attributes, events, links, and the values of arrays and mappings."""

    resources: int = 0
    scopes: int = 0
    spans: int = 0
    items: int = 0

    @classmethod
    def of(cls, payload: bytes, limits: Limits) -> Self:
        """Count everything; BadData when one span or one attribute is over a limit."""
        requests = _READ_ALL(payload)
        _check_each(requests, limits)
        resources, scopes, spans = map(len, _levels(requests))
        items = sum(map(len, _items(requests))) + _values(_READ_VALUES(payload), limits.items)
        return cls(resources, scopes, spans, items)

    def __add__(self, other: Self) -> "Census":
        """Both together."""
        return Census(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))

    def check(self, limits: Limits) -> None:
        """BadData when there is too much in all."""
        for what in ("resources", "scopes", "spans"):
            _check(what, getattr(self, what), limits.spans, "spans")
        _check("attributes, events, links and values inside others", self.items, limits.items, "items")


def spans_of(payload: bytes) -> pa.StructArray:
    """The ids of all spans."""
    return _levels(_READ_IDS(payload))[-1]


def spans_within(limits: Limits, payload: bytes) -> pa.StructArray:
    """The ids of all spans of a payload that is within the limits; BadData when it is over one."""
    if len(payload) > 2 * limits.items and tags.submessages(payload) > limits.items:
        Census.of(payload, limits).check(limits)
    certain = _each_certainly_within(limits, payload)
    requests = _READ_IDS(payload) if certain else _READ_ALL(payload)
    if not certain:
        _check_each(requests, limits)
    levels = _levels(requests)
    Census(*map(len, levels)).check(limits)
    return levels[-1]


def _each_certainly_within(limits: Limits, payload: bytes) -> bool:
    """Whether sizes alone tell that no span and no attribute has too much."""
    return len(payload) <= limits.attribute_size and (
        len(payload) <= limits.safe_bytes or _longest(_levels(_READ_SPANS(payload))[-1]) <= limits.safe_bytes
    )


def _levels(requests: pa.ListArray) -> tuple[pa.StructArray, pa.StructArray, pa.StructArray]:
    """All resources, scopes and spans."""
    resources = requests.values
    scopes = resources.field("scope_spans").values
    return resources, scopes, scopes.field("spans").values


def _attributes(requests: pa.ListArray) -> list[pa.Array]:
    """Those of each kind of holder."""
    resources, scopes, spans = _levels(requests)
    events, links = spans.field("events").values, spans.field("links").values
    holders = (resources.field("resource"), scopes.field("scope"), spans, events, links)
    return [holder.field("attributes").values for holder in holders]


def _items(requests: pa.ListArray) -> list[pa.Array]:
    *_, spans = _levels(requests)
    return [*_attributes(requests), spans.field("events").values, spans.field("links").values]


def _check_each(requests: pa.ListArray, limits: Limits) -> None:
    *_, spans = _levels(requests)
    for part, setting in _PARTS.items():
        _check(f"{part} of a span", _longest(spans.field(part)), getattr(limits, setting), setting)
    for attributes in _attributes(requests):
        _check("bytes of an attribute", _longest(attributes), limits.attribute_size, "attribute_size")


def _check(what: str, found: int, limit: int, setting: str) -> None:
    if found > limit:
        raise over(what, found, limit, setting)


def _longest(lists: pa.ListArray | pa.BinaryArray) -> int:
    """How many items the longest list has, or how many bytes the longest value."""
    return int(_lengths(lists).max(initial=0))


def _lengths(lists: pa.ListArray | pa.BinaryArray) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    if not len(lists):
        return np.zeros(0, np.int32)
    bounds = np.frombuffer(lists.buffers()[1], np.int32, len(lists) + 1)
    return bounds[1:] - bounds[:-1]


def _values(requests: pa.ListArray, most: int) -> int:
    """How many values are inside the arrays and mappings of attributes; counting ends soon after `most`."""
    found = 0
    for wire, read in _filled(requests):
        waiting = [read(wire)]
        nests = any(tag in wire for tag in _LIST_TAGS)
        while waiting and found <= most:
            values = waiting.pop().values
            found += len(values)
            if nests and found <= most:
                waiting += _nested(values)
    return found


def _filled(requests: pa.ListArray) -> Iterator[tuple[bytes, ReadList]]:
    """Each array and mapping that is an attribute's value, and how to read it."""
    for attributes in _attributes(requests):
        for name, read in _LISTS.items():
            wire = attributes.field("value").field(name)
            for row in np.flatnonzero(_lengths(wire)):
                yield wire[row].as_py(), read


def _nested(values: Iterable[AnyValue | KeyValue]) -> Iterator[ArrayValue | KeyValueList]:
    for value in values:
        any_value = value.value if isinstance(value, KeyValue) else value
        if (name := any_value.WhichOneof("value")) in _LISTS:
            yield getattr(any_value, str(name))


_READ_SPANS: Final = reader(  # as bytes
    {ExportTraceServiceRequest: ("resource_spans",), ResourceSpans: ("scope_spans",), ScopeSpans: ("spans",)}
)
_READ_IDS: Final = reader(
    {ExportTraceServiceRequest: ("resource_spans",), ResourceSpans: ("scope_spans",), ScopeSpans: ("spans",), Span: IDS}
)
_HOLDERS: Final = {
    ExportTraceServiceRequest: ("resource_spans",),
    ResourceSpans: ("resource", "scope_spans"),
    Resource: ("attributes",),
    ScopeSpans: ("scope", "spans"),
    InstrumentationScope: ("attributes",),
    Span: (*IDS, *_PARTS),
    Span.Event: ("attributes",),
    Span.Link: ("attributes",),
}
_READ_ALL: Final = reader(_HOLDERS)
_READ_VALUES: Final = reader({**_HOLDERS, KeyValue: ("value",), AnyValue: tuple(map(str, _LISTS))})
