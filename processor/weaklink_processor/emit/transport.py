"""What carries a request to a destination and brings its answer back: the seam between exporter and protocols."""

from typing import Protocol

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

LONGEST_DELAY = 3600.0
"""Seconds; a server that asks for more is asked again after an hour."""


class Failed(Exception):
    """An attempt after which the destination does not have the request.

    `delay` is the seconds that the server asks for before the next attempt; None: it does not say.
    """

    def __init__(self, code: str, message: str, *, retryable: bool, delay: float | None = None) -> None:
        super().__init__(code, message)
        self.code, self.message, self.retryable = code, message, retryable
        self.delay = None if delay is None else min(max(delay, 0.0), LONGEST_DELAY)


class Transport(Protocol):
    """One destination's connections, for any number of threads."""

    def send(self, request: bytes) -> ExportTraceServiceResponse:
        """Make one attempt.

        Raises:
            Failed: and retryable, if the transport was closed.
        """

    def close(self) -> None:
        """Hang up, also on attempts under way; twice is fine."""
