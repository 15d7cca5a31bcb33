"""Rows -> parcels: which requests a row becomes, and how many rows share one."""

from collections.abc import Iterator, Sequence

from weaklink_processor.emit.chunks import chunks
from weaklink_processor.emit.enrich import enrich
from weaklink_processor.emit.feed import ForwardRow, OutboxRow, Parcel
from weaklink_processor.emit.requests import evaluator_request, strip_spans

MAX_SPANS = 512
MAX_BYTES = 2 * 1024 * 1024  # half of what a gRPC server takes by default: a larger request is dropped there for good


def forward_parcels(rows: Sequence[ForwardRow]) -> list[Parcel]:
    """Return a parcel a row: its requests as they came, without weaklink's own spans, memory spans enriched."""
    return [Parcel(row.offset, tuple(_forwarded(row))) for row in rows]


def outbox_parcels(rows: Sequence[OutboxRow], *, by_namespace: bool = False) -> list[Parcel]:
    """Return parcels of one request each, of up to MAX_SPANS evaluator spans and about MAX_BYTES."""
    return [
        Parcel(chunk[-1].seq, (evaluator_request(chunk, by_namespace=by_namespace),), len(chunk), evaluations=True)
        for chunk in chunks(rows, MAX_SPANS, MAX_BYTES, lambda row: len(row.span))
    ]


def _forwarded(row: ForwardRow) -> Iterator[bytes]:
    for request in row.requests:
        stripped = strip_spans(request, row.own)
        if stripped is not None:
            yield enrich(stripped, row.numbers.get) if row.numbers else stripped
