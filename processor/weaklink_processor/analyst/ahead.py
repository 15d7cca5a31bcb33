"""Reads and decodes the next queue rows while those before them are analysed: the two need different parts of a CPU."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from weaklink_analysis.batch import SpanBatch
from weaklink_analysis.conventions import attributes_read
from weaklink_processor.queue.store import QueueStore, Row

Decode = Callable[[Sequence[bytes]], SpanBatch]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Rows and what is in them; `batch` raises what decoding raised."""

    rows: list[Row]
    batch: Callable[[], SpanBatch]


class Ahead:
    """Fetches queue rows, the next ones ahead of time if asked to."""

    def __init__(self, queue: QueueStore, decode: Decode, max_bytes: int) -> None:
        self._queue, self._decode, self._max_bytes = queue, decode, max_bytes
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
        return Fetched(list(rows), lambda: self._decode(requests).pick(attributes_read()))

    def close(self) -> None:
        """Stop; twice is fine."""
        self._pool.shutdown(cancel_futures=True)

    def _fetch_decoded(self, after: int) -> Fetched:
        rows = self.rows(after)
        future: Future[SpanBatch] = Future()
        try:
            future.set_result(self.decoded(rows).batch())
        except Exception as error:  # noqa: BLE001 - raised again where the rows are applied
            future.set_exception(error)
        return Fetched(rows, future.result)
