"""One destination: a serialized request in, the destination's final answer out.

Bytes go out as they are; nothing here knows what is in a request, nor how it travels.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import structlog
from tenacity import RetryCallState, Retrying, retry_if_exception

from weaklink_processor.emit.grpc_transport import GrpcTransport
from weaklink_processor.emit.http_transport import HttpTransport
from weaklink_processor.emit.outage import Outage, Throttle
from weaklink_processor.emit.phoenix_transport import PhoenixTransport
from weaklink_processor.emit.retry import failure, is_retryable
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Failed, Response, Transport
from weaklink_processor.endpoint import Endpoint, Protocol, parse_endpoint

TRANSPORTS: Mapping[Protocol, Callable[[Endpoint, ExportSettings], Transport]] = {
    "grpc": GrpcTransport,
    "http/protobuf": HttpTransport,
    "phoenix": PhoenixTransport,
}

_LOOK_SECONDS = 0.5  # how long a request waits on after it has become unwanted


class Interrupted(Exception):
    """The exporter was stopped before the destination had answered for good; the request is still to be sent."""


class Unwanted(Exception):
    """The request is to be sent no more, and the destination does not have it."""


@dataclass(frozen=True, slots=True)
class ExportStats:
    """Counts since start: requests dropped for good, attempts that failed and were put off, spans refused."""

    failed: int
    retried: int
    rejected_spans: int
    away: bool  # it gives no final answers; requests wait


class OtlpExporter:
    """A destination's client, for any number of threads.

    `stop` ends every wait for a retry and lets attempts finish; `close` cancels those too.
    Each may come twice.
    """

    def __init__(self, endpoint: str, settings: ExportSettings | None = None, name: str = "") -> None:
        settings = settings or ExportSettings()
        self.name = name or endpoint
        self._transport = TRANSPORTS[settings.protocol](parse_endpoint(endpoint, settings.protocol), settings)
        backoff = settings.backoff
        self._retrying = Retrying(
            retry=retry_if_exception(is_retryable),
            wait=backoff.wait,
            stop=backoff.stop(),
            before_sleep=self._put_off,
            reraise=True,
        )
        self._log = structlog.get_logger().bind(destination=self.name)
        self._outage = Outage(self._log, "destination")
        self._drop_lines, self._partial_lines = Throttle(), Throttle()
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def export(self, request: bytes, unwanted: threading.Event | None = None) -> Response | None:
        """Send a request until it is answered for good; None: it is dropped.

        Raises:
            Unwanted: that was set first, and no attempt succeeded.
            Interrupted: stopped first.
        """
        if unwanted and unwanted.is_set():
            raise Unwanted
        retrying = self._retrying.copy(sleep=partial(self._pause, unwanted))
        try:
            response = retrying(self._attempt, request)
        except Failed as error:
            if not error.retryable:
                self._outage.end()  # a refusal is an answer
            elif self._stopping.is_set():
                raise Interrupted from error
            self._drop(error, len(request))
            return None
        self._outage.end()
        self._note_partial(response)
        return response

    def stats(self) -> ExportStats:
        """Return the counts so far."""
        with self._lock:
            counts = self._counts.copy()
        return ExportStats(counts["failed"], counts["retried"], counts["rejected_spans"], self._outage.ongoing)

    def stop(self) -> None:
        """From now on nothing is put off: what would wait for a retry is interrupted."""
        self._stopping.set()

    def close(self) -> None:
        """Cancel what is in flight and hang up."""
        self.stop()
        self._transport.close()

    def _attempt(self, request: bytes) -> Response:
        try:
            return self._transport.send(request)
        except Failed:
            raise
        except Exception as error:  # a fault of ours, or of a library; the destination does not have the request
            raise Failed(type(error).__name__, str(error), retryable=True) from error

    def _put_off(self, state: RetryCallState) -> None:
        if self._stopping.is_set():
            return
        error = failure(state)
        self._count("retried")
        self._outage.begin(code=error.code, message=error.message)

    def _pause(self, unwanted: threading.Event | None, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if self._stopping.wait(max(0.0, min(left, _LOOK_SECONDS) if unwanted else left)):
                raise Interrupted
            if unwanted and unwanted.is_set():
                raise Unwanted
            if time.monotonic() >= end:
                return

    def _drop(self, error: Failed, size: int) -> None:
        failed = self._count("failed")
        if self._drop_lines.due():
            self._log.error(
                "request_dropped", code=error.code, message=error.message, bytes=size, dropped_so_far=failed
            )

    def _note_partial(self, response: Response) -> None:
        """Log and count; OTLP forbids to send again what a destination took in part."""
        if not (response.rejected or response.message):
            return
        rejected = self._count("rejected_spans", response.rejected)
        if self._partial_lines.due():
            self._log.warning("partial_success", message=response.message, rejected_spans_so_far=rejected)

    def _count(self, what: str, number: int = 1) -> int:
        with self._lock:
            self._counts[what] += number
            return self._counts[what]
