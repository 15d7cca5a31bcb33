"""OTLP JSON -> protobuf, driven by OTLP's own descriptors.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: proto3's JSON mapping, but ids are hex, enums are
integers, and field names lowerCamelCase only. An unknown member is skipped, a null one unset.
"""

import json
import re
import reprlib
from collections.abc import Callable
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from weaklink_processor.errors import BadData
from weaklink_processor.receive.json_values import kind_of
from weaklink_processor.receive.limits import DEEPEST, Limits, over

Put = Callable[[Message, Any, int], None]
"""Put a member's JSON value into a message, with room for so many more objects and arrays inside each other."""

Members = dict[str, Put]


OBJECT: Final = "an object"
ARRAY: Final = "an array"
INT64: Final = 1 << 63
KINDS_OF_VALUE: Final = AnyValue.DESCRIPTOR.fields_by_name
STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A JSON string; it always fits where one begins, so that finding all takes no longer than the text is long."""


class _Misfit(Exception):
    """A value that is not what its place takes; the path to it is put together on the way up."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(expected)
        self.text = f"expected {expected}, got {reprlib.repr(value)}"
        self.path = ""


class _TooDeep(Exception):
    """More objects and arrays inside each other than there is room for."""


def to_protobuf(body: bytes, limits: Limits) -> bytes:
    """Serialize the ExportTraceServiceRequest that `body` writes in JSON; BadData names the place of a fault."""
    check_elements(body, limits)
    return message_of(parse(body), limits).SerializeToString()


def check_elements(body: bytes, limits: Limits) -> None:
    """Refuse JSON whose objects, arrays and members would take too much memory: an empty object takes 72 bytes."""
    if len(body) > limits.json_elements and _elements(body) > limits.json_elements:
        found = _elements(STRING.sub(b"", body))
        if found > limits.json_elements:
            raise over("elements of JSON", found, limits.json_elements, "json_elements")


def _elements(body: bytes) -> int:
    """How many objects, arrays and members there are at most; exact where strings are left out."""
    return sum(map(body.count, (b"{", b"[", b",")))


def parse(body: bytes) -> object:
    """Read UTF-8 JSON; BadData, caused by json's own error."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise BadData(f"nested too deep: receiver.limits.depth is {DEEPEST} at most") from error
    except ValueError as error:
        raise BadData(f"not JSON: {error}") from error


def message_of(value: object, limits: Limits) -> ExportTraceServiceRequest:
    """Build the request that parsed JSON stands for; BadData with the path of what does not fit."""
    request = ExportTraceServiceRequest()
    try:
        _fill(request, _REQUEST, value, limits.depth)
    except _Misfit as misfit:
        raise BadData(f"{misfit.path.removeprefix('.') or 'request'}: {misfit.text}") from None
    except _TooDeep:
        raise over("objects and arrays inside each other", f"more than {limits.depth}", limits.depth, "depth") from None
    return request


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} stands without quotes")


def _fill(message: Message, members: Members, value: object, room: int) -> None:
    if not isinstance(value, dict):
        raise _Misfit(OBJECT, value)
    _check_room(room)
    for name, item in value.items():
        put = members.get(name)
        if put is None or item is None:
            continue
        try:
            put(message, item, room - 1)
        except _Misfit as misfit:
            misfit.path = f".{name}{misfit.path}"
            raise


def _check_room(room: int) -> None:
    if room <= 0:
        raise _TooDeep


def _scalar(field: FieldDescriptor) -> Put:
    name, kind = field.name, kind_of(field)
    read = kind.read

    def put(message: Message, item: object, _room: int) -> None:
        try:
            setattr(message, name, read(item))
        except (ValueError, TypeError, OverflowError):
            raise _Misfit(kind.expected, item) from None

    return put


def _whole(field: FieldDescriptor) -> Put:
    """Put an attribute's integer; a number that no int64 has room for as a double.

    JavaScript's SDK takes each number without a fraction for an integer. Over protobuf it sends such a double for it.
    """
    as_integer, as_double = _scalar(field), _scalar(KINDS_OF_VALUE["double_value"])

    def put(message: Message, item: object, room: int) -> None:
        beyond = isinstance(item, int | float) and not -INT64 <= item < INT64
        (as_double if beyond else as_integer)(message, item, room)

    return put


def _message(field: FieldDescriptor) -> Put:
    name, members = field.name, _members(field.message_type)

    def put(message: Message, item: object, room: int) -> None:
        inner = getattr(message, name)
        inner.SetInParent()  # an empty object is not an absent one
        _fill(inner, members, item, room)

    return put


def _each(put_one: Callable[[Any, object, int], None], name: str) -> Put:
    """Put every item of an array, into the repeated field `name`."""

    def put(message: Message, items: object, room: int) -> None:
        if not isinstance(items, list):
            raise _Misfit(ARRAY, items)
        _check_room(room)
        container = getattr(message, name)
        for index, item in enumerate(items):
            try:
                put_one(container, item, room - 1)
            except _Misfit as misfit:
                misfit.path = f"[{index}]{misfit.path}"
                raise

    return put


def _scalars(field: FieldDescriptor) -> Put:
    kind = kind_of(field)

    def put_one(container: Any, item: object, _room: int) -> None:
        try:
            container.append(kind.read(item))
        except (ValueError, TypeError, OverflowError):
            raise _Misfit(kind.expected, item) from None

    return _each(put_one, field.name)


def _messages(field: FieldDescriptor) -> Put:
    members = _members(field.message_type)

    def put_one(container: Any, item: object, room: int) -> None:
        _fill(container.add(), members, item, room)

    return _each(put_one, field.name)


_PUTS: Final = {
    # (repeated, a message)
    (False, False): _scalar,
    (False, True): _message,
    (True, False): _scalars,
    (True, True): _messages,
}
_OWN_PUTS: Final = {KINDS_OF_VALUE["int_value"].full_name: _whole}


def _members(descriptor: Descriptor | None) -> Members:
    """Find or build the table of a message: JSON name -> how to put it."""
    assert descriptor is not None  # noqa: S101 - only fields of a message type come here
    known = _TABLES.get(descriptor.full_name)
    if known is not None:
        return known
    table = _TABLES[descriptor.full_name] = Members()  # known before it is filled: AnyValue contains itself
    for field in descriptor.fields:
        make = _OWN_PUTS.get(field.full_name) or _PUTS[field.is_repeated, field.message_type is not None]
        table[field.json_name] = make(field)
    return table


_TABLES: Final[dict[str, Members]] = {}
_REQUEST: Final = _members(ExportTraceServiceRequest.DESCRIPTOR)
