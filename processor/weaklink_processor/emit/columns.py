"""Protobuf messages a column at a time: arrays of values in, an array of encoded fields or messages out.

A null is a field that is not there; bytes in place of an array are the same in every row. Messages are large binaries:
together they may take more than the 2 GiB that Arrow's usual ones can.
https://protobuf.dev/programming-guides/encoding/
"""

from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from weaklink_processor.emit import wire
from weaklink_processor.emit.wire import FIXED64, LENGTH, VARINT
from weaklink_processor.varint import varint

Column: TypeAlias = pa.Array | bytes

_NOTHING = pa.scalar(b"", pa.large_binary())


def message(*fields: Column) -> pa.Array:
    """Messages with these fields, of which one at least is an array; fields that are null are left out."""
    return pc.binary_join_element_wise(*map(_large, fields), _NOTHING, null_handling="replace", null_replacement=b"")


def together(*pieces: Column) -> pa.Array:
    """The pieces one after the other; null where one of them is."""
    return pc.binary_join_element_wise(*map(_large, pieces), _NOTHING)


def delimited(number: int, content: Column) -> Column:
    """A field that holds a message, a text or bytes."""
    if isinstance(content, bytes):
        return wire.delimited(number, content)
    content = _large(content)
    # Few lengths are distinct, so each is encoded once.
    lengths = pc.binary_length(content).dictionary_encode()
    sizes = pa.array([varint(length) for length in lengths.dictionary.to_pylist()], pa.large_binary())
    return together(varint(number << 3 | LENGTH), sizes.take(lengths.indices), content)


def flag(number: int, values: pa.Array) -> pa.Array:
    """A field that holds a truth value."""
    true, false = (_large(varint(number << 3 | VARINT) + varint(value)) for value in (1, 0))
    return pc.if_else(values, true, false)


def fixed64(number: int, values: pa.Array) -> pa.Array:
    """A field that holds a double or a fixed64, from values of eight bytes."""
    eight = pa.Array.from_buffers(pa.binary(8), len(values), values.buffers(), offset=values.offset)
    return together(varint(number << 3 | FIXED64), _large(eight.cast(pa.binary())))


def _large(content: Column) -> pa.Array | pa.Scalar:
    return pa.scalar(content, pa.large_binary()) if isinstance(content, bytes) else content.cast(pa.large_binary())
