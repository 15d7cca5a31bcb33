"""POST to one server, over connections that are kept and used again."""

import gzip
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from weakref import WeakSet

import urllib3
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, InvalidHeader

from weaklink_processor.emit.http_line import connections
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Failed
from weaklink_processor.endpoint import Endpoint

_CONNECT_SECONDS = 3.0  # a connection that is being made cannot be hung up on, so a stop may have to wait for it
_LARGEST_ANSWER = 64 * 1024  # bytes that are read of it
_LONGEST_MESSAGE = 500  # characters of an error page that are logged
_GZIP_LEVEL = 6  # zlib's own default, and gRPC's
_SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server says."""

    status: int
    headers: "urllib3.HTTPHeaderDict"
    content: bytes  # its beginning
    readable: bool = True  # whether it came as the headers announce it

    @property
    def is_success(self) -> bool:
        """Whether the status says so."""
        return self.status in _SUCCESS

    @property
    def text(self) -> str:
        """The content as text, whatever it is."""
        return self.content.decode("utf-8", "replace")

    def failed(self, *, retryable: bool, message: str | None = None) -> Failed:
        """Return the refusal that it is; what it says is the content unless told."""
        said = self.text[:_LONGEST_MESSAGE] if message is None else message
        return Failed(str(self.status), said, retryable=retryable, delay=_seconds(self.headers.get("retry-after")))


class HttpClient:
    """Connections to one server, for any number of threads."""

    def __init__(self, endpoint: Endpoint, settings: ExportSettings, content_type: str) -> None:
        self._gzip = settings.gzip
        encoding = {"content-encoding": "gzip"} if settings.gzip else {}
        self._headers = {
            "user-agent": f"weaklink/{version('weaklink')}",
            **{name.lower(): value for name, value in settings.headers},
            "content-type": content_type,
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
        make = connections(self._pool.ConnectionCls, timeout)  # type: ignore[arg-type]
        self._pool.ConnectionCls = self._remembering(make)  # type: ignore[assignment]

    def post(self, path: str, body: bytes) -> Answer:
        """Make one attempt, and follow no redirection.

        Raises:
            Failed: and retryable, if there is no answer.
        """
        if self._closed.is_set():
            raise Failed("CLOSED", "hung up", retryable=True)
        try:
            return self._post(path, gzip.compress(body, _GZIP_LEVEL) if self._gzip else body)
        except HTTPError as error:
            raise Failed(type(error).__name__, str(error), retryable=True) from error
        except Exception as error:  # whatever a connection says that is closed while it is used
            if not self._closed.is_set():
                raise
            raise Failed("CLOSED", "hung up", retryable=True) from error

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

    def _post(self, path: str, body: bytes) -> Answer:
        response = self._pool.urlopen(
            "POST", path, body, self._headers, redirect=False, preload_content=False, decode_content=True
        )
        content, more = b"", None
        try:
            with suppress(HTTPError):  # the status is known, and with it what is to be done
                content = response.read(_LARGEST_ANSWER)
                more = response.read(1)
        finally:
            if more == b"":
                response.release_conn()
            else:
                response.close()
        return Answer(response.status, response.headers, content, more is not None)

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
    except (InvalidHeader, ValueError, OverflowError):  # the latter two of numbers that no clock has
        return None
