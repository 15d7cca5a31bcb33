"""What a child tells its parent while it works: numbers that were counted, and how its destinations are doing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from weaklink_processor.metrics import Tally
from weaklink_processor.supervise import lifeline

_PERIOD_SECONDS = 1.0


class News:
    """Filled by whatever runs in the child, told every second by `telling`."""

    def __init__(self, *, metrics: bool) -> None:
        """`metrics`: whether anybody reads numbers."""
        self.tally = Tally()
        self.sources: dict[str, Callable[[], object]] = {}
        """What is told, under this name in the message, whenever it is another than the last time."""
        self._metrics = metrics
        self._told: dict[str, object] = {}

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell the parent what is new meanwhile, and at the end."""
        stop = threading.Event()
        teller = threading.Thread(target=self._tell_until, args=(stop,), name="news", daemon=True)
        teller.start()
        try:
            yield
        finally:
            stop.set()
            teller.join(_PERIOD_SECONDS)

    def _tell_until(self, stop: threading.Event) -> None:
        while not stop.wait(_PERIOD_SECONDS):
            self._tell()
        self._tell()

    def _tell(self) -> None:
        news: dict[str, object] = dict(self.tally.take()) if self._metrics else {}
        for name, source in self.sources.items():
            with suppress(Exception):  # closed, at the very end: what was told last stands
                found = source()
                if name not in self._told or found != self._told[name]:
                    news[name] = self._told[name] = found
        if news:
            lifeline.tell_parent(news)
