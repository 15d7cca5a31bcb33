"""What a child tells its parent while it works: numbers that were counted, and how its destinations are doing."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import structlog

from weaklink_processor.errors import WeaklinkError
from weaklink_processor.metrics import Tally
from weaklink_processor.supervise import lifeline

_PERIOD_SECONDS = 1.0

Source = Callable[[], object]

log = structlog.get_logger(__name__)


class News:
    """Filled by whatever runs in the child, and told every second."""

    def __init__(self, *, metrics: bool) -> None:
        """`metrics`: whether anybody reads numbers."""
        self.tally = Tally()
        self._metrics = metrics

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell the parent what is counted meanwhile, to the end."""
        with _every_second(self._tell_numbers):
            yield

    @contextmanager
    def telling_of(self, sources: Mapping[str, Source]) -> Iterator[None]:
        """Tell the parent what each source says, under its name, when that is another than the last time.

        No source is asked any more when the block is left, so what it reads from may be closed then. One that cannot
        tell is asked again a second later.
        """
        with _every_second(_Teller(sources).tell):
            yield

    def _tell_numbers(self) -> None:
        if self._metrics and (numbers := self.tally.take()):
            lifeline.tell_parent(numbers)


class _Teller:
    """Remembers what was told."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._told: dict[str, object] = {}
        self._failing: set[str] = set()

    def tell(self) -> None:
        news = {name: said for name, source in self._sources.items() for said in self._new(name, source)}
        if news:
            lifeline.tell_parent(news)

    def _new(self, name: str, source: Source) -> Iterator[object]:
        try:
            said = source()
        except WeaklinkError:
            return  # a queue that cannot be read now: whoever works with it says so
        except Exception:
            if name not in self._failing:
                log.exception("nothing new is told", of=name)
            self._failing.add(name)
            return
        self._failing.discard(name)
        if name not in self._told or said != self._told[name]:
            self._told[name] = said
            yield said


@contextmanager
def _every_second(do: Callable[[], None]) -> Iterator[None]:
    """Do it in a thread meanwhile, and once more at the end."""
    stop = threading.Event()
    thread = threading.Thread(target=partial(_repeat, do, stop), name="news", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_PERIOD_SECONDS)  # a parent that does not listen does not hold up the end


def _repeat(do: Callable[[], None], stop: threading.Event) -> None:
    while not stop.wait(_PERIOD_SECONDS):
        do()
    do()
