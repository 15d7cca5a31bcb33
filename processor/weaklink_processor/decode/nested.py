"""One attribute, read through the generated protobuf class: the exact and slow way.

It takes what the vectorised reading (entries.py) leaves over: arrays, key-value lists, bytes, and
encodings out of the ordinary. The forms are those of weaklink_analysis.spans.
"""

import json
import math
from base64 import b64encode
from collections.abc import Callable
from typing import Final, TypeAlias

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def double_text(value: float) -> str:
    """`value` as the shortest decimal that reads back equal, or NaN, Infinity, -Infinity."""
    return repr(value) if math.isfinite(value) else json.dumps(value)


def read_entry(wire: bytes) -> tuple[str, str, str]:
    """(key, text, type code) of a serialized KeyValue. Raises ValueError where upb refuses it."""
    try:
        entry = KeyValue.FromString(wire)
    except DecodeError as error:
        raise ValueError(f"not a KeyValue: {error}") from error
    code, text = _TEXT.get(entry.value.WhichOneof("value") or "", _EMPTY)
    return entry.key, text(entry.value), code


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _base64(value: bytes) -> str:
    return b64encode(value).decode("ascii")


def _plain_double(value: float) -> Json:
    return value if math.isfinite(value) else {"$double": double_text(value)}


def _plain_array(array: ArrayValue) -> Json:
    return [_plain(value) for value in array.values]


def _plain_kvlist(kvlist: KeyValueList) -> Json:
    plain: dict[str, Json] = {}
    for entry in kvlist.values:
        if entry.key not in plain:
            plain[entry.key] = _plain(entry.value)
    return plain


def _plain(value: AnyValue) -> Json:
    plain = _PLAIN.get(value.WhichOneof("value") or "")
    return plain(value) if plain else None


_PLAIN: Final[dict[str, Callable[[AnyValue], Json]]] = {
    "string_value": lambda value: value.string_value,
    "bool_value": lambda value: value.bool_value,
    "int_value": lambda value: value.int_value,
    "double_value": lambda value: _plain_double(value.double_value),
    "bytes_value": lambda value: {"$bytes": _base64(value.bytes_value)},
    "array_value": lambda value: _plain_array(value.array_value),
    "kvlist_value": lambda value: _plain_kvlist(value.kvlist_value),
}

_EMPTY: Final[tuple[str, Callable[[AnyValue], str]]] = ("n", lambda _: "")

_TEXT: Final[dict[str, tuple[str, Callable[[AnyValue], str]]]] = {
    "string_value": ("s", lambda value: value.string_value),
    "bool_value": ("b", lambda value: "true" if value.bool_value else "false"),
    "int_value": ("i", lambda value: str(value.int_value)),
    "double_value": ("d", lambda value: double_text(value.double_value)),
    "bytes_value": ("y", lambda value: _base64(value.bytes_value)),
    "array_value": ("a", lambda value: _json(_plain(value))),
    "kvlist_value": ("k", lambda value: _json(_plain(value))),
}
