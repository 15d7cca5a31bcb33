"""OTLP/HTTP with protobuf: which answers are worth another try, and connections to send on.

https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
"""

import gzip
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from typing import Any
from weakref import WeakSet

import urllib3
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, InvalidHeader

from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Failed
from weaklink_processor.endpoint import Endpoint

PROTOBUF = "application/x-protobuf"
RETRYABLE = frozenset({429, 502, 503, 504})

_CONNECT_SECONDS = 3.0  # a connection that is being made cannot be hung up on, so a stop may have to wait for it
_LARGEST_ANSWER = 64 * 1024  # bytes that are read of it
_LONGEST_MESSAGE = 500  # characters of an error page that are logged
_GZIP_LEVEL = 6  # zlib's own default, and gRPC's
_REDIRECTION = 300  # what follows the codes of success


class HttpTransport:
    """Connections to one server, which are kept and used again."""

    def __init__(self, endpoint: Endpoint, settings: ExportSettings) -> None:
        self._path, self._gzip = endpoint.path, settings.gzip
        encoding = {"content-encoding": "gzip"} if settings.gzip else {}
        self._headers = {
            "user-agent": f"weaklink/{version('weaklink')}",
            **{name.lower(): value for name, value in settings.headers},
            "content-type": PROTOBUF,
            **encoding,
        }
        timeout = settings.timeout_seconds
        self._pool = urllib3.connection_from_url(
            endpoint.url,
            maxsize=16,
            timeout=urllib3.Timeout(connect=min(timeout, _CONNECT_SECONDS), read=timeout),
            retries=False,  # what is tried again, and when, is the exporter's to say
            **({"ssl_context": settings.tls.context()} if endpoint.tls else {}),
        )
        self._lines: WeakSet[HTTPConnection] = WeakSet()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._pool.ConnectionCls = self._remembering(self._pool.ConnectionCls)  # type: ignore[assignment, arg-type]

    def send(self, request: bytes) -> ExportTraceServiceResponse:
        """Make one attempt; Failed, if the server does not take it or cannot be reached."""
        if self._closed.is_set():
            raise Failed("CLOSED", "hung up", retryable=True)
        try:
            status, headers, content = self._post(gzip.compress(request, _GZIP_LEVEL) if self._gzip else request)
        except HTTPError as error:
            raise Failed(type(error).__name__, str(error), retryable=True) from error
        except Exception as error:  # whatever a connection says that is closed while it is used
            if not self._closed.is_set():
                raise
            raise Failed("CLOSED", "hung up", retryable=True) from error
        if status >= _REDIRECTION:
            delay = _seconds(headers.get("retry-after"))
            raise Failed(str(status), _message(headers, content), retryable=status in RETRYABLE, delay=delay)
        return _response(headers, content)

    def close(self) -> None:
        """Hang up, also on what is in flight."""
        self._closed.set()
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            if line.sock is not None:
                with suppress(OSError):
                    # The plain socket's own: that wakes a thread that waits for an answer; closing would not.
                    socket.socket.shutdown(line.sock, socket.SHUT_RDWR)
        self._pool.close()

    def _post(self, body: bytes) -> tuple[int, "urllib3.HTTPHeaderDict", bytes]:
        response = self._pool.urlopen(
            "POST", self._path, body, self._headers, redirect=False, preload_content=False, decode_content=True
        )
        try:
            content = response.read(_LARGEST_ANSWER)
            whole = not response.read(1)
        except BaseException:
            response.close()
            raise
        if whole:
            response.release_conn()
        else:
            response.close()
        return response.status, response.headers, content

    def _remembering(self, make: Callable[..., HTTPConnection]) -> Callable[..., HTTPConnection]:
        def connection(**settings: Any) -> HTTPConnection:
            made = make(**settings)
            with self._lock:
                self._lines.add(made)
            return made

        return connection


def _seconds(retry_after: str | None) -> float | None:
    """Read seconds or a date; None for neither."""
    try:
        return None if retry_after is None else urllib3.Retry().parse_retry_after(retry_after)
    except InvalidHeader:
        return None


def _message(headers: "urllib3.HTTPHeaderDict", content: bytes) -> str:
    """Return what a server says about its refusal."""
    if _is_protobuf(headers):
        with suppress(DecodeError):
            return str(Status.FromString(content).message)
    return content.decode("utf-8", "replace")[:_LONGEST_MESSAGE]


def _response(headers: "urllib3.HTTPHeaderDict", content: bytes) -> ExportTraceServiceResponse:
    """Return a server's answer; one that is not OTLP's is a success all the same."""
    if _is_protobuf(headers):
        with suppress(DecodeError):
            return ExportTraceServiceResponse.FromString(content)
    return ExportTraceServiceResponse()


def _is_protobuf(headers: "urllib3.HTTPHeaderDict") -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == PROTOBUF
