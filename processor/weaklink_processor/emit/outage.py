"""Log lines that come once: for an outage that lasts, for a fault that repeats."""

import threading
import time
from collections.abc import Callable

from structlog.typing import FilteringBoundLogger


class Throttle:
    """Lets one event a period through."""

    def __init__(self, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next = float("-inf")
        self._lock = threading.Lock()

    def due(self) -> bool:
        """Tell whether this event is the period's first."""
        with self._lock:
            now = self._clock()
            if now < self._next:
                return False
            self._next = now + self._seconds
            return True


class Outage:
    """One line when something goes away and one when it is back, at most one such pair a minute."""

    def __init__(self, log: FilteringBoundLogger, what: str, throttle: Throttle | None = None) -> None:
        self._log = log
        self._what = what
        self._throttle = throttle or Throttle()
        self._lock = threading.Lock()
        self._told = False
        self.ongoing = False

    def begin(self, **why: object) -> None:
        """Note a failure; what follows it until `end` is the same outage."""
        with self._lock:
            self.ongoing = True
            if not self._told and self._throttle.due():
                self._told = True
                self._log.warning(f"{self._what}_away", **why)

    def end(self) -> None:
        """Note that it works (again)."""
        if not self.ongoing:
            return
        with self._lock:
            if self._told:
                self._log.info(f"{self._what}_back")
            self._told = self.ongoing = False
