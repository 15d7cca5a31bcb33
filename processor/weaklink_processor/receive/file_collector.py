"""What the Collector's file exporter writes as `proto`, or compressed: four bytes of length before each request.

https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/fileexporter
"""

import io
import re
from collections.abc import Iterator
from typing import Final

from weaklink_processor.errors import BadData
from weaklink_processor.receive import otlp_json
from weaklink_processor.receive.accept import spans_of
from weaklink_processor.receive.faults import fault
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.streams import DAMAGES, decompressed, look_ahead

LENGTH_BYTES: Final = 4  # the most significant first
HEAD: Final = re.compile(rb"\x00...(?:\n|\x28\xb5\x2f\xfd)", re.DOTALL)
"""A length below 16 MiB, then the tag of a request's first field, or zstd.

By varints this would begin with a request that is empty, and nobody writes those.
"""


def read(name: str, stream: io.BufferedReader, limits: Limits) -> Iterator[bytes]:
    """Give the requests; UsageError with file and offset."""
    offset = 0
    while head := stream.read(LENGTH_BYTES):
        place = f"{name}: byte {offset}"
        length = int.from_bytes(head, "big")
        if length > limits.max_recv_bytes:
            raise fault(place, f"a message of {length} bytes, and {limits.max_recv_bytes} is the limit")
        message = stream.read(length)
        if len(head) < LENGTH_BYTES or len(message) < length:
            raise fault(place, f"cut short: {len(message)} bytes of a message of {length}")
        yield _request(place, message, limits)
        offset += len(head) + length


def _request(place: str, message: bytes, limits: Limits) -> bytes:
    try:
        _, whole = look_ahead(decompressed(io.BytesIO(message)))
        text = whole.read(limits.max_recv_bytes + 1)
        if len(text) > limits.max_recv_bytes:
            raise fault(place, f"a message of more than {limits.max_recv_bytes} bytes")
        if text.startswith(b"{"):
            return otlp_json.to_protobuf(text, limits)
        spans_of(text, limits)
    except DAMAGES as error:
        raise fault(place, f"damaged: {error}") from error
    except BadData as error:
        raise fault(place, error) from error
    return text
