"""ExportTraceServiceRequests -> span batch.

A slice of the requests goes through ptars at once and is then taken apart level by level: a list is
flattened into its children, and each child knows its parent by index. What belongs to a resource or
a scope is decoded once there, and taken for each of its spans.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weaklink_analysis.batch import SpanBatch
from weaklink_analysis.spans import KEY_SCHEMA, SPAN_SCHEMA
from weaklink_processor.decode import columns, descriptor
from weaklink_processor.decode.attributes import decode_attributes
from weaklink_processor.known_fields import without_unknown

_Index: TypeAlias = npt.NDArray[np.int64]

# A slice costs 2 ms of calls whatever its size, and a large one more page faults: 3.4 MB costs 1.15 times as
# much as 8 MB, 16 MB as much or a little more.
SLICE_BYTES: Final = 8_000_000


def decode(requests: Sequence[bytes], *, by_namespace: bool = False) -> SpanBatch:
    """All spans of serialized ExportTraceServiceRequests, in the order sent.

    `by_namespace`: environments of one name in two namespaces (service.namespace) are two.

    The requests must be ones that the receiver accepts: parsed by upb, ids of the right lengths.
    Raises ValueError where one is not protobuf or an id has a wrong length.
    """
    try:
        return _decode(requests, by_namespace=by_namespace)
    except ValueError:
        # ptars minds what is inside unknown groups, upb does not: without unknown fields they agree.
        return _decode([without_unknown(request) for request in requests], by_namespace=by_namespace)


def _decode(requests: Sequence[bytes], *, by_namespace: bool) -> SpanBatch:
    slices = [_decode_slice(part, first, by_namespace=by_namespace) for first, part in _slices(requests)]
    return SpanBatch(
        pa.Table.from_batches([chunk for spans, _ in slices for chunk in spans.to_batches()], SPAN_SCHEMA),
        pa.Table.from_batches([chunk for _, keys in slices for chunk in keys.to_batches()], KEY_SCHEMA),
    )


def _slices(requests: Sequence[bytes]) -> Iterator[tuple[int, Sequence[bytes]]]:
    """(index of the first request, requests) of pieces that end where they reach SLICE_BYTES."""
    first, size = 0, 0
    for end, request in enumerate(requests, start=1):
        size += len(request)
        if size >= SLICE_BYTES or end == len(requests):
            yield first, requests[first:end]
            first, size = end, 0


def _decode_slice(requests: Sequence[bytes], first_request: int, *, by_namespace: bool) -> tuple[pa.Table, pa.Table]:
    """(spans, keys) of a slice whose first request is number `first_request`."""
    resource_spans, request_of = _children(descriptor.read(requests))
    scope_spans, resource_of = _children(resource_spans.field("scope_spans"))
    spans, scope_of = _children(scope_spans.field("spans"))
    resource_of = resource_of[scope_of]

    events, links = spans.field("events"), spans.field("links")
    levels = (resource_spans.field("resource"), scope_spans.field("scope"), spans, events.flatten(), links.flatten())
    resource, scope, span, event, link = decode_attributes([level.field("attributes") for level in levels])
    found = {
        **columns.span_columns(spans, span),
        "events": columns.event_column(events, event),
        "links": columns.link_column(links, link),
        **_spread(columns.scope_columns(scope_spans, scope), scope_of),
        **_spread(columns.resource_columns(resource_spans, resource, by_namespace=by_namespace), resource_of),
    }
    keys = {"request": request_of[resource_of] + first_request, **columns.key_columns(spans)}
    return (
        pa.table([found[name] for name in SPAN_SCHEMA.names], schema=SPAN_SCHEMA),
        pa.table([keys[name] for name in KEY_SCHEMA.names], schema=KEY_SCHEMA),
    )


def _children(lists: pa.ListArray) -> tuple[pa.StructArray, _Index]:
    """The items of all lists in one array, and for each item the index of its list."""
    return lists.flatten(), pc.list_parent_indices(lists).to_numpy()


def _spread(parents: columns.Columns, parent_of: _Index) -> dict[str, pa.ChunkedArray]:
    """The parents' columns, a row for each child."""
    spread = take_in_chunks(pa.table(parents), parent_of)
    return dict(zip(spread.column_names, spread.columns, strict=True))


def take_in_chunks(table: pa.Table, rows: _Index) -> pa.Table:
    """`table.take(rows)`, in as many chunks as it needs: one column of one chunk holds at most 2 GiB of text."""
    try:
        return table.take(pa.array(rows))
    except pa.ArrowInvalid:
        half = len(rows) // 2
        if not half:
            raise
        return pa.concat_tables([take_in_chunks(table, rows[:half]), take_in_chunks(table, rows[half:])])
