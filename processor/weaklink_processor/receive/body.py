"""The body of an HTTP request: read and decompressed as it comes in, never more of it in memory than allowed."""

import zlib
from typing import Final, Protocol

from weaklink_processor.errors import BadData, TooLarge
from weaklink_processor.receive.asgi import Request
from weaklink_processor.receive.room import Grow
from weaklink_processor.receive.status import WrongType

GZIP: Final = 16 + zlib.MAX_WBITS  # zlib's way of asking for a gzip header and trailer
MOST_MEMBERS: Final = 10_000  # an empty one takes 20 bytes, and as long as a large one to begin with


async def read_body(request: Request, max_bytes: int, grow: Grow = lambda _: None) -> bytes:
    """Read the whole body, decompressed: TooLarge as soon as either form is, BadData when it is damaged or cut short.

    `grow` is told of its size as it comes. WrongType: a content encoding other than gzip.
    """
    decoder = _decoder(request.header("content-encoding"))
    _check_size(_announced(request), max_bytes)
    sent = 0
    body = bytearray()
    async for chunk in request.chunks():
        sent += len(chunk)
        _check_size(sent, max_bytes)
        body += decoder.feed(chunk, max_bytes - len(body) + 1)
        _check_size(len(body), max_bytes)
        grow(len(body))
    decoder.finish()
    return bytes(body)


class _Decoder(Protocol):
    def feed(self, chunk: bytes, room: int) -> bytes:
        """Decode a chunk, into `room` bytes at most where that is more than the chunk; BadData when damaged."""

    def finish(self) -> None:
        """Nothing more comes; BadData when something is missing."""


class _Identity:
    def feed(self, chunk: bytes, room: int) -> bytes:  # noqa: ARG002 - a chunk is never larger than it is
        return chunk

    def finish(self) -> None:
        """Whatever came is whole: HTTP itself says where a body ends."""


class _Gzip:
    """One member, or several behind each other: https://www.rfc-editor.org/rfc/rfc1952#section-2.2."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(GZIP)
        self._members = 1

    def feed(self, chunk: bytes, room: int) -> bytes:
        decoded = bytearray()
        while chunk and len(decoded) < room:
            if self._stream.eof:
                self._begin_another()
            try:
                decoded += self._stream.decompress(chunk, room - len(decoded))
            except zlib.error as error:
                raise BadData(f"damaged gzip stream: {error}") from error
            chunk = self._stream.unused_data
        return bytes(decoded)

    def _begin_another(self) -> None:
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise BadData(f"a gzip stream of more than {MOST_MEMBERS} members")
        self._stream = zlib.decompressobj(GZIP)

    def finish(self) -> None:
        if not self._stream.eof:
            raise BadData("the gzip stream is cut short")


_DECODERS: Final[dict[str, type[_Identity | _Gzip]]] = {"": _Identity, "identity": _Identity, "gzip": _Gzip}


def _decoder(encoding: str) -> _Decoder:
    try:
        return _DECODERS[encoding.strip().lower()]()
    except KeyError:
        raise WrongType(f"content encoding {encoding!r}: only gzip is understood") from None


def _announced(request: Request) -> int:
    length = request.header("content-length")
    try:
        return int(length or 0)
    except ValueError:  # thousands of digits
        raise BadData(f"content-length: expected a number of bytes, got {length[:20]!r}...") from None


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise TooLarge(f"request of more than {max_bytes} bytes, as sent or decompressed")
