"""A large payload as many small ones, so that what is parsed at once stays small.

An empty message takes 2 bytes on the wire and up to 180 in memory. Pieces are payloads of their own: a run of
sibling fields in the messages that they are in. What is in several pieces when it is cut is counted here instead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from weaklink_processor.errors import BadData
from weaklink_processor.receive.limits import Limits, over
from weaklink_processor.varint import CONTINUES, read_varint, varint

PIECE_BYTES: Final = 1 << 20
VARINT, DELIMITED = 0, 2  # wire types
WIDTHS: Final = {1: 8, 5: 4}  # those of a fixed width; no message of OTLP has groups
HEAD_BYTES: Final = 5  # a field's tag and length, at most
_UNREADABLE: Final = "not an ExportTraceServiceRequest in protobuf, or one with groups"

Field = tuple[int, int, int, int]
"""Its number, where it starts, where its content starts, where it ends."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What there may only be so much of in one message."""

    what: str
    setting: str

    def limit(self, limits: Limits) -> int:
        """How many there may be."""
        return int(getattr(limits, self.setting))

    def refusal(self, limits: Limits) -> BadData:
        """Say that there are more; counting ends at the first one too many."""
        return over(self.what, f"more than {self.limit(limits)}", self.limit(limits), self.setting)


@dataclass(frozen=True, slots=True)
class Level:
    """A message that is cut where it is too large, with its fields by number."""

    inside: Mapping[int, "Level"] = field(default_factory=dict)  # those that may be cut too
    counted: Mapping[int, Counted] = field(default_factory=dict)

    def counting(self, fields: Iterator[Field], limits: Limits) -> Iterator[Field]:
        """The same fields; BadData at the first one too many."""
        room = {number: counted.limit(limits) for number, counted in self.counted.items()}
        for one in fields:
            left = room[one[0]] = room.get(one[0], limits.items) - 1
            if left < 0:
                raise self.counted.get(one[0], _FIELDS).refusal(limits)
            yield one


_FIELDS: Final = Counted("fields of one message", "items")
_HOLDER: Final = Level()  # a resource, scope, event or link: it has attributes
_SPAN: Final = Level(
    {11: _HOLDER, 13: _HOLDER},
    {
        9: Counted("attributes of a span", "span_attributes"),
        11: Counted("events of a span", "span_events"),
        13: Counted("links of a span", "span_links"),
    },
)
_SCOPE_SPANS: Final = Level({1: _HOLDER, 2: _SPAN}, {2: Counted("spans of a scope", "spans")})
_RESOURCE_SPANS: Final = Level({1: _HOLDER, 2: _SCOPE_SPANS}, {2: Counted("scopes of a resource", "spans")})
_REQUEST: Final = Level({1: _RESOURCE_SPANS}, {1: Counted("resources", "spans")})


def pieces(payload: bytes, limits: Limits) -> Iterator[bytes]:
    """Cut a serialized ExportTraceServiceRequest; a field that cannot be cut is a piece however large it is.

    Raises:
        BadData: it is not protobuf that can be cut, or something in it is over a limit.
    """
    try:
        yield from _cut(payload, 0, len(payload), (), _REQUEST, limits)
    except (IndexError, ValueError):
        raise BadData(_UNREADABLE) from None


def _cut(  # noqa: PLR0917
    payload: bytes, start: int, end: int, path: tuple[int, ...], level: Level, limits: Limits
) -> Iterator[bytes]:
    """Pieces of the message from `start` to `end`, which is in messages with these field numbers."""
    run = start
    for number, first, body, after in level.counting(_fields(payload, start, end), limits):
        if after - run <= PIECE_BYTES:
            continue
        if first > run:
            yield inside(path, payload[run:first])
        run = first
        if after - first > PIECE_BYTES:
            run = after
            if number in level.inside:
                yield from _cut(payload, body, after, (*path, number), level.inside[number], limits)
            else:
                yield inside(path, _not_too_long(payload[first:after], limits))
    if run < end:
        yield inside(path, payload[run:end])


def _not_too_long(field: bytes, limits: Limits) -> bytes:
    if len(field) > limits.attribute_size + HEAD_BYTES:
        raise over("bytes of an attribute", len(field), limits.attribute_size, "attribute_size")
    return field


def _fields(payload: bytes, start: int, end: int) -> Iterator[Field]:
    """Each field; IndexError at the end of the payload, ValueError for a number that is none."""
    at = start
    while at < end:
        first, tag, at = at, payload[at], at + 1
        if tag >= CONTINUES:
            tag, at = read_varint(payload, first)
        kind = tag & 7
        if kind == DELIMITED:
            body, size = at + 1, payload[at]
            if size >= CONTINUES:
                size, body = read_varint(payload, at)
            at = body + size
        elif kind == VARINT:
            body = at
            _, at = read_varint(payload, at)
        elif kind in WIDTHS:
            body, at = at, at + WIDTHS[kind]
        else:
            raise BadData(_UNREADABLE)
        if at > end:
            raise BadData(_UNREADABLE)
        yield tag >> 3, first, body, at


def inside(path: tuple[int, ...], run: bytes) -> bytes:
    """A request with these fields in the messages that the path names."""
    parts, size = [run], len(run)
    for number in reversed(path):
        parts.append(bytes([number << 3 | 2]) + varint(size))
        size += len(parts[-1])
    return b"".join(reversed(parts))
