"""Protobuf written by hand, so that tests can send what no library writes."""

import math
import struct
import sys
from collections.abc import Callable
from random import Random

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

VARINT, FIXED64, LENGTH, GROUP, GROUP_END, FIXED32 = range(6)


def varint(value: int, width: int = 1) -> bytes:
    """`value` modulo 2**64 in at least `width` bytes; more than it needs is overlong, and allowed."""
    value &= (1 << 64) - 1
    digits = [value >> shift & 0x7F for shift in range(0, max(7 * width, value.bit_length(), 1), 7)]
    return bytes([*(digit | 0x80 for digit in digits[:-1]), digits[-1]])


def field(number: int, payload: bytes, kind: int = LENGTH) -> bytes:
    """A field with its tag and, if it is length-delimited, its length."""
    return varint(number << 3 | kind) + (varint(len(payload)) if kind == LENGTH else b"") + payload


def group(number: int, content: bytes = b"") -> bytes:
    """An unknown group: the deprecated nesting that every parser still has to skip."""
    return varint(number << 3 | GROUP) + content + varint(number << 3 | GROUP_END)


WORDS = ("service.name", "deployment.environment.name", "deployment.environment", "k", "", "é" * 64, "\0\u2028😀")
INTEGERS = (0, 1, -1, 2, 6, 127, 128, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**64 - 1)
DOUBLES = (0.0, -0.0, 1.0, 0.3, 1e-5, 1e-4, 1e10, 1e15, 1e16, 5e-324, sys.float_info.max, math.nan, math.inf, -math.inf)


def _integer(rng: Random) -> int:
    return rng.choice([rng.choice(INTEGERS), rng.getrandbits(64) >> rng.randrange(64)])


def _text(rng: Random) -> bytes:
    return (rng.choice(WORDS) * rng.choice([1, 1, 1, 1, 130])).encode()


def _double(rng: Random) -> bytes:
    return rng.choice([struct.pack("<d", rng.choice(DOUBLES)), struct.pack("<d", rng.random()), rng.randbytes(8)])


_F = FieldDescriptor
PAYLOADS: dict[int, tuple[int, Callable[[Random], bytes]]] = {
    _F.TYPE_STRING: (LENGTH, _text),
    _F.TYPE_BYTES: (LENGTH, lambda rng: rng.randbytes(rng.randrange(20))),
    _F.TYPE_BOOL: (VARINT, lambda rng: varint(_integer(rng), rng.choice([1, 1, 2]))),
    _F.TYPE_ENUM: (VARINT, lambda rng: varint(rng.choice([rng.randrange(7), _integer(rng)]))),
    _F.TYPE_INT32: (VARINT, lambda rng: varint(_integer(rng))),
    _F.TYPE_INT64: (VARINT, lambda rng: varint(_integer(rng), rng.choice([1, 1, rng.randint(1, 10)]))),
    _F.TYPE_UINT32: (VARINT, lambda rng: varint(_integer(rng))),
    _F.TYPE_FIXED32: (FIXED32, lambda rng: rng.randbytes(4)),
    _F.TYPE_FIXED64: (FIXED64, lambda rng: rng.randbytes(8)),
    _F.TYPE_DOUBLE: (FIXED64, _double),
}
"""Protobuf type -> (wire type, any encoding of it)."""

UNKNOWN = (
    field(99, varint(7), VARINT),
    field(99, b"12345678", FIXED64),
    field(99, b"unknown \xff"),
    field(99, b"1234", FIXED32),
    group(99, field(1, b"x")),
)

SPAN_IDS: dict[str, Callable[[Random], bytes]] = {
    "trace_id": lambda rng: rng.randbytes(16),
    "span_id": lambda rng: rng.randbytes(8),
    "parent_span_id": lambda rng: rng.choice([b"", bytes(8), rng.randbytes(8)]),
}
"""Ids of a span as the receiver lets them pass. A link's may have any length."""

DEPTH = 10  # a request's attribute values are five to six messages down


def message(rng: Random, descriptor: Descriptor, depth: int = DEPTH) -> bytes:
    """Any encoding of a message: fields in any order, missing, repeated; unknown ones among them."""
    fields = [_field(rng, each, depth) for each in _chosen(rng, descriptor) if depth or each.message_type is None]
    fields += rng.sample(UNKNOWN, rng.choice([0, 0, 0, 0, 0, 2]))
    rng.shuffle(fields)
    if descriptor is Span.DESCRIPTOR:
        fields += [_field(rng, descriptor.fields_by_name[name], depth) for name in ("trace_id", "span_id")]
    return b"".join(fields)


def request(seed: int) -> bytes:
    """An ExportTraceServiceRequest out of `message`."""
    return message(Random(seed), ExportTraceServiceRequest.DESCRIPTOR)


def _chosen(rng: Random, descriptor: Descriptor) -> list[FieldDescriptor]:
    """Fields to write, with repetitions. Mostly one of a oneof, so that simple values are not rare."""
    if descriptor.oneofs:
        return rng.choices(descriptor.fields, k=rng.choice([0, 1, 1, 1, 1, 1, 1, 2]))
    return [each for each in descriptor.fields for _ in range(rng.choice([0, 1, 1, 1, 1, 2]))]


def _field(rng: Random, each: FieldDescriptor, depth: int) -> bytes:
    if each.message_type is not None:
        return field(each.number, message(rng, each.message_type, depth - 1))
    kind, payload = PAYLOADS[each.type]
    if each.containing_type is Span.DESCRIPTOR:
        payload = SPAN_IDS.get(each.name, payload)
    return field(each.number, payload(rng), kind)
