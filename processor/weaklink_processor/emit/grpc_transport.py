"""OTLP/gRPC: which codes are worth another try, and a channel to send on.

https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-response
"""

import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Failed, Response
from weaklink_processor.endpoint import Endpoint

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
RETRYABLE = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""Always; RESOURCE_EXHAUSTED besides, when the server says with RetryInfo that it will recover."""

# Our own back-off says when to try again, so the channel's must never still be waiting then; and a channel of
# its own pool takes over no other channel's back-off.
_CHANNEL_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
)


class GrpcTransport:
    """A channel to one server."""

    def __init__(self, endpoint: Endpoint, settings: ExportSettings) -> None:
        self._timeout = settings.timeout_seconds
        self._metadata = tuple(_entry(key.lower(), value) for key, value in settings.headers)
        self._channel = _channel(endpoint, settings)
        self._call: grpc.UnaryUnaryMultiCallable[bytes, ExportTraceServiceResponse] = self._channel.unary_unary(
            EXPORT, request_serializer=None, response_deserializer=ExportTraceServiceResponse.FromString
        )
        self._closed = threading.Event()

    def send(self, request: bytes) -> Response:
        """Make one attempt; Failed, if the server does not take it."""
        try:
            partial = self._call(request, self._timeout, self._metadata).partial_success
        except grpc.RpcError as error:
            raise failed(error) from error
        except ValueError as error:  # grpc's word for a closed channel
            if not self._closed.is_set():
                raise
            raise Failed("CANCELLED", "the channel is closed", retryable=True) from error
        return Response(partial.rejected_spans, partial.error_message)

    def close(self) -> None:
        """Cancel what is in flight and hang up."""
        self._closed.set()
        self._channel.close()


def _entry(key: str, value: str) -> tuple[str, str | bytes]:
    return key, value.encode() if key.endswith("-bin") else value  # gRPC takes nothing else there


def failed(error: grpc.RpcError) -> Failed:
    """Return what a server's status means for the request."""
    delay = _server_delay(error)
    exhausted = error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    retryable = error.code() in RETRYABLE or (exhausted and delay is not None)
    return Failed(error.code().name, error.details() or "", retryable=retryable, delay=delay)


def _server_delay(error: grpc.RpcError) -> float | None:
    """Return the seconds that the server's RetryInfo asks for; None without one."""
    for info in _retry_infos(error):
        seconds: float = info.retry_delay.seconds + info.retry_delay.nanos / 1e9
        return seconds
    return None


def _retry_infos(error: grpc.RpcError) -> Iterator[RetryInfo]:
    details = [entry.value for entry in error.trailing_metadata() or () if entry.key == "grpc-status-details-bin"]
    try:
        for detail in Status.FromString(details[0] if details else b"").details:
            info = RetryInfo()
            if detail.Unpack(info):
                yield info
    except DecodeError:  # a server's malformed details are as good as none
        return


def _channel(endpoint: Endpoint, settings: ExportSettings) -> grpc.Channel:
    compression = grpc.Compression.Gzip if settings.gzip else grpc.Compression.NoCompression
    if not endpoint.tls:
        return grpc.insecure_channel(endpoint.target, _CHANNEL_OPTIONS, compression)
    tls = settings.tls
    tls.context()  # gRPC itself says nothing of a file that makes no sense, and then reaches nobody
    credentials = grpc.ssl_channel_credentials(_content(tls.ca_file), _content(tls.key_file), _content(tls.cert_file))
    return grpc.secure_channel(endpoint.target, credentials, _CHANNEL_OPTIONS, compression)


def _content(file: Path | None) -> bytes | None:
    return file.read_bytes() if file else None
