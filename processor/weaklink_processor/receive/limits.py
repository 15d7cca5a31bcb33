"""How much a client may send."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one request."""

    max_recv_bytes: int = 64 << 20  # as sent, and again after decompression
    json_depth: int = 100  # objects and arrays inside each other
