"""How much of large requests is in memory at once, whoever sends them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from weaklink_processor.errors import Overloaded

SMALL_BYTES: Final = 1 << 20  # there is always room for so much of a request
AT_ONCE: Final = 128 << 20

Grow = Callable[[int], None]
"""To be told how large a request has become; Overloaded when there is no room for that."""


class Room:
    """Room for some bytes of large requests."""

    def __init__(self, size: int = AT_ONCE) -> None:
        self._size = size
        self._taken = 0

    @contextmanager
    def claim(self) -> Iterator[Grow]:
        """Room for one request, until it is dealt with."""
        mine = 0

        def grow(size: int) -> None:
            nonlocal mine
            more = max(size - SMALL_BYTES, 0) - mine
            if self._taken + more > self._size:
                raise Overloaded("too many large requests at once")
            self._taken += more
            mine += more

        try:
            yield grow
        finally:
            self._taken -= mine
