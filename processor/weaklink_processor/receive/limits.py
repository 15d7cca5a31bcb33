"""How much a client may send."""

from dataclasses import dataclass
from typing import Final

from weaklink_processor.errors import BadData

DEEPEST: Final = 100  # what protobuf itself takes
MOST_OVERHEAD: Final = 64 << 10  # bytes of a request that are no body: a head or metadata, trailers, chunk extensions


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one request; all but the first are settings of the same name under receiver.limits."""

    max_recv_bytes: int = 64 << 20  # as sent, and again after decompression
    spans: int = 100_000  # and so many resources, and so many scopes
    span_attributes: int = 16_384
    span_events: int = 16_384
    span_links: int = 16_384
    items: int = 2_000_000  # attributes, events and links, wherever they are
    attribute_size: int = 4 << 20  # key and value of one, in bytes
    depth: int = DEEPEST  # messages, or objects and arrays, inside each other
    json_elements: int = 1_000_000  # objects, arrays, and what they hold

    @property
    def safe_bytes(self) -> int:
        """So many bytes cannot hold too much of anything that is counted: each takes two or more."""
        return 2 * min(self.spans, self.span_attributes, self.span_events, self.span_links, self.items)


def over(what: str, found: int | str, limit: int, setting: str) -> BadData:
    """Say which limit a request is over, what it has, and which setting allows more."""
    return BadData(f"{what}: {found}, and the limit is {limit} (receiver.limits.{setting})")
