"""The protobuf wire format, as far as it takes to find a message within a message, and to put one into another.

https://protobuf.dev/programming-guides/encoding/. Only what upb has parsed may come here: nothing is validated.
"""

from collections.abc import Iterator
from typing import NamedTuple

from weaklink_processor.varint import read_varint, varint

VARINT, FIXED64, LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)  # the wire types
_FIXED_BYTES = {FIXED64: 8, _FIXED32: 4, _GROUP: 0, _GROUP_END: 0}
_NESTING = {_GROUP: 1, _GROUP_END: -1}


class Field(NamedTuple):
    """A length-delimited field: its length is at data[after_tag:start], its content at data[start:end]."""

    number: int
    after_tag: int
    start: int
    end: int


def length_delimited(data: bytes) -> Iterator[Field]:
    """The message's own length-delimited fields, in order; not those in a group, which is always an unknown field."""
    at = depth = 0
    while at < len(data):
        tag, after_tag = read_varint(data, at)
        kind = tag & 7
        if kind == LENGTH:
            size, start = read_varint(data, after_tag)
            at = start + size
            if not depth:
                yield Field(tag >> 3, after_tag, start, at)
        elif kind == VARINT:
            _, at = read_varint(data, after_tag)
        else:
            at = after_tag + _FIXED_BYTES[kind]
            depth += _NESTING.get(kind, 0)


def delimited(number: int, content: bytes) -> bytes:
    """A field that holds a message, a text or bytes."""
    return varint(number << 3 | LENGTH) + varint(len(content)) + content
