"""Protobuf's numbers."""

import pytest
from google.protobuf.wrappers_pb2 import UInt64Value
from hypothesis import given
from hypothesis import strategies as st

from weaklink_processor.varint import read_varint, varint

NUMBERS = st.integers(0, 2**64 - 1)


@given(st.binary(max_size=3), NUMBERS, st.binary(max_size=3))
def test_it_is_read_as_protobuf_writes_it(before: bytes, number: int, after: bytes) -> None:
    """Wherever it stands, and with the place behind it."""
    written = UInt64Value(value=number).SerializeToString()[1:] or b"\0"
    assert varint(number) == written
    assert read_varint(before + written + after, len(before)) == (number, len(before + written))


@given(NUMBERS)
def test_one_that_is_cut_short_is_none(number: int) -> None:
    """Nor is what is longer than one can be."""
    for end in range(len(varint(number))):
        with pytest.raises(IndexError):
            read_varint(varint(number)[:end], 0)
    with pytest.raises(ValueError, match="more than 10 bytes at byte 1"):
        read_varint(b"\0" + b"\xff" * 10 + b"\1", 1)
    assert read_varint(b"\x80" * 9 + b"\0", 0) == (0, 10)
