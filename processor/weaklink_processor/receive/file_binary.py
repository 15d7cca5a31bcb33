"""Protobuf in a file: a varint length before each request (`.binpb`).

https://protobuf.dev/programming-guides/techniques/#streaming
"""

import io
from collections.abc import Iterator

from weaklink_processor.errors import BadData
from weaklink_processor.receive.accept import spans_of
from weaklink_processor.receive.faults import fault
from weaklink_processor.receive.limits import Limits
from weaklink_processor.varint import CONTINUES, LONGEST, read_varint


def read(name: str, stream: io.BufferedReader, limits: Limits) -> Iterator[bytes]:
    """Give the requests of a length-delimited file; UsageError with file and offset in the decompressed bytes."""
    offset = 0
    while digits := _varint(stream):
        place = f"{name}: byte {offset}"
        if digits[-1] >= CONTINUES:
            raise fault(place, "neither OTLP JSON nor the length of a protobuf message")
        length, _ = read_varint(digits, 0)
        if length > limits.max_recv_bytes:
            raise fault(place, f"a message of {length} bytes, and {limits.max_recv_bytes} is the limit")
        payload = stream.read(length)
        if len(payload) < length:
            raise fault(place, f"cut short: {len(payload)} bytes of a message of {length}")
        _check(place, payload, limits)
        yield payload
        offset += len(digits) + length


def _check(place: str, payload: bytes, limits: Limits) -> None:
    try:
        spans_of(payload, limits)
    except BadData as error:
        raise fault(place, error) from error


def _varint(stream: io.BufferedReader) -> bytes:
    """Read the bytes of one varint: none at the end, and a last one that CONTINUES where it has no end."""
    digits = b""
    while len(digits) < LONGEST and (digit := stream.read(1)):
        digits += digit
        if digit[0] < CONTINUES:
            break
    return digits
