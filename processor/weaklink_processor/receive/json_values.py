"""What OTLP JSON writes for a protobuf scalar, one reader a type.

A reader returns what the field is set to, and raises ValueError, TypeError or OverflowError on anything else. Setting
the field is the last check: protobuf itself refuses integers out of range.
"""

import base64
import binascii
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor import FieldDescriptor

Scalar = str | bytes | int | float | bool

HEX_FIELDS: Final = frozenset({"trace_id", "span_id", "parent_span_id"})
INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a character: what JavaScript's SDK leaves of one where it cuts a value. Over protobuf it sends U+FFFD for it."""
NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class Kind:
    """A scalar type: what to call it in an error, and how to read it."""

    expected: str
    read: Callable[[object], Scalar]


def kind_of(field: FieldDescriptor) -> Kind:
    """Find how a scalar field is written in OTLP JSON."""
    return HEX if field.name in HEX_FIELDS else KINDS[field.type]


def _string(value: object) -> str:
    if isinstance(value, str):
        return value if value.isascii() else LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    raise TypeError


def _bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError


def _number(value: object) -> int:
    match value:
        case bool():
            raise TypeError
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
    raise TypeError


def _integer(value: object) -> int:
    if not isinstance(value, str):
        return _number(value)
    if INTEGER.fullmatch(value):
        return int(value)
    raise ValueError


def _double(value: object) -> float:
    match value:
        case str() if value in NOT_FINITE:
            return NOT_FINITE[value]
        case str() if not NUMBER.fullmatch(value):
            raise ValueError
        case bool():
            raise TypeError
        case str() | int() | float() if math.isfinite(number := float(value)):
            return number
    raise TypeError


def _hex(value: object) -> bytes:
    return binascii.unhexlify(_string(value))


def _base64(value: object) -> bytes:
    """Standard or URL-safe alphabet, padded or not, as proto3's JSON mapping has it."""
    text = _string(value).rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


HEX: Final = Kind("hex digits, two a byte", _hex)
_INTEGER: Final = Kind("an integer in the field's range", _integer)

KINDS: Final = {
    FieldDescriptor.TYPE_STRING: Kind("a string", _string),
    FieldDescriptor.TYPE_BYTES: Kind("base64", _base64),
    FieldDescriptor.TYPE_BOOL: Kind("true or false", _bool),
    FieldDescriptor.TYPE_DOUBLE: Kind("a number, NaN, Infinity or -Infinity", _double),
    FieldDescriptor.TYPE_ENUM: Kind("an enum's integer", _number),
    FieldDescriptor.TYPE_INT32: _INTEGER,
    FieldDescriptor.TYPE_INT64: _INTEGER,
    FieldDescriptor.TYPE_UINT32: _INTEGER,
    FieldDescriptor.TYPE_FIXED32: _INTEGER,
    FieldDescriptor.TYPE_FIXED64: _INTEGER,
}
"""The types that OTLP's trace messages use; a new one in a later OTLP is a KeyError at import, not a wrong value."""
