"""One OTLP/gRPC destination: a serialized request in, the destination's final answer out.

Bytes go out as they are; nothing here knows what is in a request.
"""

import threading
from collections import Counter
from dataclasses import dataclass, field

import grpc
import structlog
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from tenacity import RetryCallState, Retrying, retry_if_exception

from weaklink_processor.emit.endpoint import Endpoint, parse_endpoint
from weaklink_processor.emit.outage import Outage, Throttle
from weaklink_processor.emit.retry import Backoff, failure, is_retryable

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

# Our own back-off says when to try again, so the channel's must never still be waiting then; and a channel of
# its own pool takes over no other channel's back-off.
_CHANNEL_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
)


class Interrupted(Exception):
    """The exporter was stopped before the destination had answered for good; the request is still to be sent."""


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """How a destination is called."""

    timeout_seconds: float = 10.0  # for one attempt
    headers: tuple[tuple[str, str], ...] = ()
    gzip: bool = False
    root_certificates: bytes | None = None  # PEM; None: the system's
    certificate: bytes | None = None  # PEM; None: the client shows none
    private_key: bytes | None = None  # PEM, of the certificate
    backoff: Backoff = field(default_factory=Backoff)


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

    def __init__(self, endpoint: str, settings: ExportSettings | None = None) -> None:
        self._settings = settings or ExportSettings()
        destination = parse_endpoint(endpoint)
        self.target = destination.target
        self._channel = _channel(destination, self._settings)
        self._call: grpc.UnaryUnaryMultiCallable[bytes, ExportTraceServiceResponse] = self._channel.unary_unary(
            EXPORT, request_serializer=None, response_deserializer=ExportTraceServiceResponse.FromString
        )
        self._metadata = tuple((key.lower(), value) for key, value in self._settings.headers)
        self._retrying = self._retry_rules(self._settings.backoff)
        self._log = structlog.get_logger().bind(destination=endpoint)
        self._outage = Outage(self._log, "destination")
        self._drop_lines, self._partial_lines = Throttle(), Throttle()
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._stopping, self._closed = threading.Event(), threading.Event()

    def export(self, request: bytes) -> bool:
        """Send a request until it is answered for good: True if the destination took it, False if it is dropped.

        Raises:
            Interrupted: stopped first.
        """
        try:
            response = self._retrying(self._attempt, request)
        except grpc.RpcError as error:
            if not is_retryable(error):
                self._outage.end()  # a refusal is an answer
            elif self._stopping.is_set():
                raise Interrupted from error
            self._drop(error, len(request))
            return False
        self._outage.end()
        self._note_partial(response)
        return True

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
        self._closed.set()
        self._channel.close()

    def _retry_rules(self, backoff: Backoff) -> Retrying:
        return Retrying(
            retry=retry_if_exception(is_retryable),
            wait=backoff.wait,
            stop=backoff.stop(),
            before_sleep=self._put_off,
            sleep=self._pause,
            reraise=True,
        )

    def _attempt(self, request: bytes) -> ExportTraceServiceResponse:
        try:
            return self._call(request, self._settings.timeout_seconds, self._metadata)
        except ValueError as error:  # grpc's word for a closed channel
            if self._closed.is_set():
                raise Interrupted from error
            raise

    def _put_off(self, state: RetryCallState) -> None:
        if self._stopping.is_set():
            return
        error = failure(state)
        self._count("retried")
        self._outage.begin(code=error.code().name, message=error.details())

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted

    def _drop(self, error: grpc.RpcError, size: int) -> None:
        failed = self._count("failed")
        if self._drop_lines.due():
            self._log.error(
                "request_dropped", code=error.code().name, message=error.details(), bytes=size, dropped_so_far=failed
            )

    def _note_partial(self, response: ExportTraceServiceResponse) -> None:
        """Log and count; OTLP forbids to send again what a destination took in part."""
        partial = response.partial_success
        if not (partial.rejected_spans or partial.error_message):
            return
        rejected = self._count("rejected_spans", partial.rejected_spans)
        if self._partial_lines.due():
            self._log.warning("partial_success", message=partial.error_message, rejected_spans_so_far=rejected)

    def _count(self, what: str, number: int = 1) -> int:
        with self._lock:
            self._counts[what] += number
            return self._counts[what]


def _channel(destination: Endpoint, settings: ExportSettings) -> grpc.Channel:
    compression = grpc.Compression.Gzip if settings.gzip else grpc.Compression.NoCompression
    if not destination.tls:
        return grpc.insecure_channel(destination.target, _CHANNEL_OPTIONS, compression)
    credentials = grpc.ssl_channel_credentials(settings.root_certificates, settings.private_key, settings.certificate)
    return grpc.secure_channel(destination.target, credentials, _CHANNEL_OPTIONS, compression)
