"""A byte stream to look ahead in, decompressed where its first bytes say that it is compressed."""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Final, Protocol

import zstandard

DAMAGES: Final = (EOFError, OSError, zlib.error, zstandard.ZstdError)  # what reading a damaged stream raises
HEAD_BYTES: Final = 512
ZSTD_CHUNK_BYTES: Final = 512  # becomes 16 MiB at the very most: a block of 128 KiB takes 4 bytes


class Readable(Protocol):
    """What is needed of a binary stream."""

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, none at the end."""


def look_ahead(stream: Readable) -> tuple[bytes, io.BufferedReader]:
    """Give the first bytes of `stream`, and all of it, to read from the start."""
    head = b""
    while len(head) < HEAD_BYTES and (more := stream.read(HEAD_BYTES - len(head))):
        head += more
    return head, io.BufferedReader(_Rewound(head, stream))


def decompressed(stream: Readable) -> Readable:
    """Undo gzip or zstd, known by their magic bytes.

    Reading then raises one of DAMAGES when the data is damaged or ends too early.
    """
    head, whole = look_ahead(stream)
    return next((undo(whole) for magic, undo in _COMPRESSIONS.items() if head.startswith(magic)), whole)


class _Rewound(io.RawIOBase):
    """A stream whose head was already read. Closing it leaves the stream open: it may be stdin."""

    def __init__(self, head: bytes, rest: Readable) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader gives a memoryview
        data = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


class _Zstd:
    """Frame after frame of zstd. zstandard's own reader takes data that is cut short for whole."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._frame: zstandard.ZstdDecompressionObj | None = None  # None: between frames
        self._chunk = b""  # read, and not yet decoded
        self._decoded = io.BytesIO()

    def read(self, size: int, /) -> bytes:
        while True:
            data = self._decoded.read(size)
            if data or not self._decode_more():
                return data

    def _decode_more(self) -> bool:
        chunk = self._chunk or self._stream.read(ZSTD_CHUNK_BYTES)
        if not chunk:
            if self._frame is None:
                return False
            raise EOFError("zstd data is cut short")
        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._decoded = io.BytesIO(frame.decompress(chunk))
        self._chunk = frame.unused_data
        self._frame = None if frame.eof else frame
        return True


def _gunzip(stream: io.BufferedReader) -> Readable:
    return gzip.GzipFile(fileobj=stream)


_COMPRESSIONS: Final[dict[bytes, Callable[[io.BufferedReader], Readable]]] = {
    b"\x1f\x8b": _gunzip,
    b"\x28\xb5\x2f\xfd": _Zstd,
}
