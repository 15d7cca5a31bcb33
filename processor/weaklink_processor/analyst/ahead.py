"""Reads the next queue rows, decodes them and recognises what they hold, while those before them are analysed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from weaklink_analysis.recognition import Recognised
from weaklink_processor.queue.store import QueueStore, Row

Read = Callable[[Sequence[bytes]], Recognised]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Rows and what is in them; `batch` raises what reading them raised."""

    rows: list[Row]
    batch: Callable[[], Recognised]


class Ahead:
    """Fetches queue rows, the next ones ahead of time if asked to."""

    def __init__(self, queue: QueueStore, read: Read, max_bytes: int) -> None:
        self._queue, self._read, self._max_bytes = queue, read, max_bytes
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self._after = -1
        self._fetching: Future[Fetched] | None = None

    def start(self, after: int) -> None:
        """Begin to fetch what follows an offset."""
        self._after = after
        self._fetching = self._pool.submit(self._fetch_decoded, after)

    def rows(self, after: int) -> list[Row]:
        """The rows that follow an offset, about `max_bytes` of them, without their spans; none if there are none."""
        return self._queue.read(after, self._max_bytes)

    def fetched(self, after: int) -> Fetched | None:
        """What was fetched ahead, if it is what follows this offset."""
        fetching, self._fetching = self._fetching, None
        if fetching is None or self._after != after:
            return None
        return fetching.result()

    def decoded(self, rows: Sequence[Row]) -> Fetched:
        """These rows, decoded when asked for."""
        requests = [request for row in rows for request in row.requests]
        return Fetched(list(rows), lambda: self._read(requests))

    def close(self) -> None:
        """Stop; twice is fine."""
        self._pool.shutdown(cancel_futures=True)

    def _fetch_decoded(self, after: int) -> Fetched:
        rows = self.rows(after)
        future: Future[Recognised] = Future()
        try:
            future.set_result(self.decoded(rows).batch())
        except Exception as error:  # noqa: BLE001 - raised again where the rows are applied
            future.set_exception(error)
        return Fetched(rows, future.result)
