"""The one way in for both protocols: judge, hand to the queue, and only then answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, Literal, TypeVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from weaklink_processor.errors import Overloaded, WeaklinkError
from weaklink_processor.metrics import ACCEPTED_BYTES, ACCEPTED_SPANS, RECEIVER_REQUESTS, REFUSED_SPANS, Tally
from weaklink_processor.receive.accept import Accepted, accept
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.room import Room
from weaklink_processor.receive.status import RETRY_SECONDS

LARGE_BYTES: Final = 1 << 20  # takes long enough to judge that the other clients should not wait for it
Append = Callable[[bytes], Awaitable[None]]
Result = TypeVar("Result")
Transport = Literal["grpc", "http"]
RECEIVER: Final = "otlp"
"""What the Collector calls this receiver in its metrics."""


class Intake:
    """Takes payloads into the queue, and knows whether it lately could."""

    def __init__(
        self, append: Append, *, clock: Callable[[], float] = time.monotonic, tally: Tally | None = None
    ) -> None:
        self.room = Room()
        self._append = append
        self._tally = tally or Tally()
        self._clock = clock
        self._large = ThreadPoolExecutor(1, thread_name_prefix="large")
        self._draining = False
        self._overloaded_until = clock()

    async def take(self, payload: bytes, limits: Limits, transport: Transport) -> ExportTraceServiceResponse:
        """Answer a serialized request when its good spans are durable; a Refused when it cannot be taken."""
        if len(payload) < LARGE_BYTES:
            accepted = accept(payload, limits)
        else:
            accepted = await self.aside(accept, payload, limits)
        if accepted.spans:
            try:
                await self._queue(accepted.payload)
            except WeaklinkError:
                self._count_refused(accepted.spans + accepted.rejected, transport)
                raise
        self._count_taken(accepted, transport)
        return _response(accepted)

    async def aside(self, judge: Callable[[bytes, Limits], Result], payload: bytes, limits: Limits) -> Result:
        """Judge a payload in a thread, of large ones no two at a time: what they become in memory is there once."""
        pool = self._large if len(payload) >= LARGE_BYTES else None
        return await asyncio.get_running_loop().run_in_executor(pool, judge, payload, limits)

    def refused(self, error: Exception, transport: Transport) -> None:
        """Hear of a request that gets an error for its answer, wherever it was refused."""
        outcome = "refused" if isinstance(error, WeaklinkError) else "failure"
        self._tally.add(RECEIVER_REQUESTS, receiver=RECEIVER, transport=transport, outcome=outcome)

    @property
    def ready(self) -> bool:
        """Whether new clients are welcome: not draining, and not overloaded a moment ago."""
        return not self._draining and self._clock() >= self._overloaded_until

    def drain(self) -> None:
        """Be no longer ready; what is still under way is taken."""
        self._draining = True

    def _count_taken(self, accepted: Accepted, transport: Transport) -> None:
        self._tally.add(RECEIVER_REQUESTS, receiver=RECEIVER, transport=transport, outcome="success")
        self._tally.add(ACCEPTED_SPANS, accepted.spans, receiver=RECEIVER, transport=transport)
        self._tally.add(ACCEPTED_BYTES, len(accepted.payload), transport=transport)
        if accepted.rejected:
            self._count_refused(accepted.rejected, transport)

    def _count_refused(self, spans: int, transport: Transport) -> None:
        self._tally.add(REFUSED_SPANS, spans, receiver=RECEIVER, transport=transport)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """What the end of the receiver cuts short within the block is Overloaded: it can be sent again."""
        try:
            yield
        except asyncio.CancelledError:
            if not self._draining:
                raise  # the client has gone
            raise Overloaded("the receiver stopped before the request was stored") from None

    async def _queue(self, payload: bytes) -> None:
        try:
            with self.until_stopped():
                await self._append(payload)
        except Overloaded:
            self._overloaded_until = self._clock() + RETRY_SECONDS
            raise
        self._overloaded_until = self._clock()


def _response(accepted: Accepted) -> ExportTraceServiceResponse:
    if not accepted.rejected:
        return ExportTraceServiceResponse()  # full success leaves partial_success unset
    partial = ExportTracePartialSuccess(rejected_spans=accepted.rejected, error_message=accepted.reason)
    return ExportTraceServiceResponse(partial_success=partial)
