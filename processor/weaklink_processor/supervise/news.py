"""What a child tells its parent while it works: numbers that were counted, and where its destinations stand."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from weaklink_processor.metrics import Tally
from weaklink_processor.supervise import lifeline

_PERIOD_SECONDS = 1.0


class News:
    """Filled by whatever runs in the child, told every second by `telling`."""

    def __init__(self, *, metrics: bool) -> None:
        """`metrics`: whether anybody reads numbers."""
        self.tally = Tally()
        self.away: Callable[[], Mapping[str, bool]] | None = None
        """Which destinations there are, and which of them do not answer; to be set by who knows."""
        self._metrics = metrics
        self._told: Mapping[str, bool] | None = None

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
        away = self.away() if self.away else None
        if away != self._told:  # that there is none, too: there may have been some in the life before
            news["destinations"] = self._told = away
        if news:
            lifeline.tell_parent(news)
