"""decode() against a plain reading of the same bytes through the generated protobuf classes."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decode.plain import read_plainly
from decode.wire import field, group, request
from weaklink_analysis.spans import KEY_SCHEMA, SPAN_SCHEMA
from weaklink_processor.decode import batch
from weaklink_processor.decode.batch import decode
from weaklink_processor.errors import BadData
from weaklink_processor.receive.accept import accept
from weaklink_processor.receive.limits import Limits

SEEDS = st.lists(st.integers(0, 2**32), max_size=6)


@given(SEEDS)
def test_decode_equals_the_plain_reading(seeds: list[int]) -> None:
    """Whatever the encoding, each span has the values that the generated classes read."""
    requests = [request(seed) for seed in seeds]
    decoded = decode(requests)
    decoded.spans.validate(full=True)
    spans, keys = read_plainly(requests)
    assert decoded.spans.to_pylist() == spans
    assert decoded.keys.to_pylist() == keys


@given(SEEDS, st.integers(0, 300))
def test_slices_do_not_show(seeds: list[int], slice_bytes: int) -> None:
    """The tables are the same wherever the requests are cut into slices."""
    requests = [request(seed) for seed in seeds]
    whole = decode(requests)
    with mock.patch.object(batch, "SLICE_BYTES", slice_bytes):
        cut = decode(requests)
    assert cut.spans.combine_chunks().equals(whole.spans.combine_chunks())
    assert cut.keys.combine_chunks().equals(whole.keys.combine_chunks())


@pytest.mark.parametrize("requests", [[], [b""], [b"", b""], [field(1, b"")], [field(1, field(2, b""))]])
def test_no_spans(requests: list[bytes]) -> None:
    """Requests without spans decode to empty tables with the full schemas."""
    decoded = decode(requests)
    assert len(decoded) == 0
    assert decoded.spans.schema.equals(SPAN_SCHEMA)
    assert decoded.keys.schema.equals(KEY_SCHEMA)


def _request(*span_fields: bytes) -> bytes:
    ids = field(1, b"t" * 16) + field(2, b"s" * 8)
    return field(1, field(2, field(2, ids + b"".join(span_fields))))


def test_schema() -> None:
    """A batch with spans has exactly the declared schemas."""
    decoded = decode([_request()])
    assert decoded.spans.schema.equals(SPAN_SCHEMA)
    assert decoded.keys.schema.equals(KEY_SCHEMA)


@pytest.mark.parametrize(
    "span",
    [
        field(1, b"t" * 15) + field(2, b"s" * 8),
        field(1, b"t" * 16) + field(2, b"s" * 7),
        field(1, b"t" * 16) + field(2, b"s" * 8) + field(4, b"p" * 9),
    ],
)
def test_wrong_id_lengths_are_refused(span: bytes) -> None:
    """An id of a wrong length, which the receiver never lets pass, is an error and not a wrong key."""
    with pytest.raises(ValueError, match=r"\d"):
        decode([field(1, field(2, field(2, span)))])


class _SmallTable:
    """A table that overflows at more than three rows, as a real one does at 2 GiB."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def take(self, rows: pa.Array) -> pa.Table:
        if len(rows) > 3:
            raise pa.ArrowInvalid("Take operation overflowed binary array capacity")
        return self._table.take(rows)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 100])
def test_what_does_not_fit_one_chunk_takes_more(count: int) -> None:
    """A resource repeated for more spans than one chunk can hold comes in several chunks, in order."""
    table = pa.table({"resource": ["a", "b"]})
    rows = np.arange(count) % 2
    assert batch.take_in_chunks(_SmallTable(table), rows).equals(table.take(rows))


def test_nested_groups_end_at_the_receiver() -> None:
    """A million nested unknown groups, on which ptars would overflow its stack, are refused before it sees them."""
    opening = group(99)[:2]
    with pytest.raises(BadData):
        accept(_request(opening * 1_000_000), Limits())


ODD = group(100, b"\x02\x00")
"""A group that no version knows, and in it a field of number 0: upb passes over it, ptars refuses it."""


@pytest.mark.parametrize(
    "odd",
    [
        field(1, field(1, ODD) + field(2, field(2, field(1, b"t" * 16) + field(2, b"s" * 8)))),
        _request(ODD),
        _request(field(11, ODD)),
        _request(field(9, field(1, b"key") + ODD)),
    ],
)
def test_what_stands_in_unknown_groups_does_not_matter(odd: bytes) -> None:
    """Where unknown fields hold what ptars minds, spans are read all the same, and so are those of other requests."""
    accepted = accept(odd, Limits())
    assert (accepted.payload, accepted.spans, accepted.rejected) == (odd, 1, 0)
    requests = [request(1), odd, request(2)]
    spans, keys = read_plainly(requests)
    decoded = decode(requests)
    assert decoded.spans.to_pylist() == spans
    assert decoded.keys.to_pylist() == keys
