"""What carries a request to a destination and brings its answer back: the seam between exporter and protocols."""

from dataclasses import dataclass
from typing import Protocol

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


@dataclass(frozen=True, slots=True)
class Response:
    """What a destination says of a request that it took."""

    rejected: int = 0  # of its spans, for good
    message: str = ""
    unknown: tuple[int, ...] = ()
    """Places in the request of the evaluations that it did not take, as it does not know (yet) what they are about."""


class Transport(Protocol):
    """One destination's connections, for any number of threads."""

    def send(self, request: bytes) -> Response:
        """Make one attempt.

        Raises:
            Failed: and retryable, if the transport was closed.
        """

    def close(self) -> None:
        """Hang up, also on attempts under way; twice is fine."""
