"""The parser of a connection that stays with HTTP/1.1, whatever else a client offers to speak.

A server may pay no heed to Upgrade (RFC 9110, 7.8), and it comes with whole requests: Java's own client has it in the
first one of each connection. httptools takes what follows such a head for another protocol, so that the request would
have no body: https://github.com/Kludex/uvicorn/issues/2722.
"""

from array import array
from typing import Final, Protocol

import httptools

CONNECT: Final = b"CONNECT"
"""What follows its head is no HTTP, with or without Upgrade."""


class Listener(Protocol):
    """Who hears of requests by a parser, and keeps the head of the last, as uvicorn does."""

    parser: "Parser"
    url: bytes
    headers: list[tuple[bytes, bytes]]


class Parser(httptools.HttpRequestParser):
    """Has another read a head that offers an upgrade once more, without the offer; `offered` is true before that."""

    def __init__(self, listener: Listener) -> None:
        super().__init__(listener)
        self._listener = listener
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it

    @property
    def offered(self) -> bool:
        """Whether the head that has been read offers an upgrade: it will come again, and then the body."""
        return self.should_upgrade() and self.get_method() != CONNECT

    def feed_data(self, data: "bytes | bytearray | memoryview[int] | array[int]") -> None:
        """Tell the listener of all that is in it; HttpParserError where that is no HTTP."""
        try:
            super().feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if not self.offered:
                raise
            (end,) = upgrade.args
        else:
            return
        self._listener.parser = Parser(self._listener)  # this one takes a connection that is to be closed for closed
        self._listener.parser.feed_data(self._head() + bytes(data)[end:])

    def _head(self) -> bytes:
        version = self.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.get_method(), self._listener.url, version)]
        lines += [b"%s: %s" % (name, value) for name, value in self._listener.headers if name != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])
