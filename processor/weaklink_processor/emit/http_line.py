"""One connection over HTTP: urllib3's own, whose attempts end in time, and whose answers are final ones.

urllib3 bounds connecting and sending by one timeout, and each piece of an answer by another. And a server, or a proxy
before it, may send any number of interim answers first, of which http.client takes each but 100 for the final one:
https://www.rfc-editor.org/rfc/rfc9110#section-15.2
"""

import http.client
import io
import socket
import time
from http import HTTPStatus
from typing import Any, ClassVar

from urllib3.connection import HTTPConnection

_INTERIM = range(HTTPStatus.PROCESSING, HTTPStatus.OK)
"""Those that http.client knows nothing of; 101 is final, and no success."""
_SHORTEST = 0.001  # seconds; a timeout of 0 would mean not to wait


class _Bounded(io.RawIOBase):
    """What a socket reads until its timeout has passed once."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._sock, self._raw = sock, raw
        self._end = time.monotonic() + (sock.gettimeout() or 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]  # BufferedReader gives a memoryview
        self._sock.settimeout(max(self._end - time.monotonic(), _SHORTEST))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """The final one, of which nothing is waited for any longer than its socket's timeout when it begins."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp = io.BufferedReader(_Bounded(sock, self.fp.detach()))

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]  # not in its stubs
        return version, HTTPStatus.CONTINUE if status in _INTERIM else status, reason


class _Line(HTTPConnection):
    attempt_seconds: ClassVar[float]
    response_class = _Answer

    def request(self, *given: Any, **named: Any) -> None:
        if self.sock is None:
            self.connect()
        self._end = time.monotonic() + self.attempt_seconds
        self.timeout = self.attempt_seconds
        super().request(*given, **named)

    def getresponse(self) -> Any:
        self.timeout = max(self._end - time.monotonic(), _SHORTEST)
        return super().getresponse()


def connections(make: type[HTTPConnection], seconds: float) -> type[HTTPConnection]:
    """Make a class of connections whose attempts take so long at most, besides the time for connecting."""
    return type(make.__name__, (_Line, make), {"attempt_seconds": seconds})
