"""OTLP files: JSON, length-delimited protobuf or the Collector's, plain, gzip or zstd. The content tells which.

One request is in memory at a time.
"""

import io
import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, Final

from weaklink_processor.receive import file_binary, file_collector, file_json
from weaklink_processor.receive.faults import fault
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.streams import DAMAGES, decompressed, look_ahead

STDIN: Final = "-"

JSON_HEAD: Final = re.compile(
    rb"""\s* (?: \{ \s* (?: "[^\x00-\x1f] | \} | \Z )  # an object: a member's name, its end, or not seen yet
               | \[ \s* (?: [{\]] | \Z )               # an array: no OTLP, but that is for the JSON reader to say
               | \Z )""",
    re.VERBOSE,
)
"""How JSON begins and length-delimited OTLP does not.

A first length of 123 is a `{` too, and the field tag behind it a line feed. Where JSON then has the first letter of a
name, protobuf has a second tag, and those of OTLP are control characters.
"""

NO_TEXT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What is in the head of protobuf that has a span: the tags of its fields are control characters."""
SHOWN: Final = 40  # characters

Reader = Callable[[str, io.BufferedReader, Limits], Iterator[bytes]]


def read_requests(
    source: str | Path | BinaryIO, limits: Limits | None = None, tell: Callable[[int], None] = lambda _: None
) -> Iterator[bytes]:
    """Give every request of a file as protobuf that parses; its spans are not judged.

    `source`: a path, - for stdin, or a binary stream. `tell` hears how many bytes of a file that is no pipe are read.
    UsageError: it cannot be read, or is damaged, cut short or not OTLP; names file and line, or file and byte offset.
    """
    name, opened = _open(source)
    with opened as stream:
        try:
            head, whole = look_ahead(decompressed(stream))
            for request in _reader(name, head)(name, whole, limits or Limits()):
                if stream.seekable():
                    tell(stream.tell())
                yield request
        except DAMAGES as error:
            raise fault(name, f"damaged: {error}") from error


def _reader(name: str, head: bytes) -> Reader:
    if JSON_HEAD.match(head):
        return file_json.read
    if text := _text(head):
        begins = text.splitlines()[0][:SHOWN]
        raise fault(name, f"neither OTLP JSON nor protobuf: it is text that begins with {begins!r}")
    return file_collector.read if file_collector.HEAD.match(head) else file_binary.read


def _text(head: bytes) -> str:
    """What a head says in UTF-8, of which it may have the last letter in part; '' where it is no text."""
    try:
        text = getincrementaldecoder("utf-8")().decode(head).strip()
    except UnicodeDecodeError:
        return ""
    return "" if NO_TEXT.search(text) else text


def _open(source: str | Path | BinaryIO) -> tuple[str, AbstractContextManager[BinaryIO]]:
    match source:
        case str() | Path() if str(source) == STDIN:
            return "stdin", nullcontext(sys.stdin.buffer)
        case str() | Path():
            try:
                return str(source), Path(source).open("rb")
            except OSError as error:
                raise fault(str(source), error.strerror) from error
    return str(getattr(source, "name", "stream")), nullcontext(source)
