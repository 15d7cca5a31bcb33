"""Inputs that are nearly right: valid ones with a few bytes, characters or values changed, each made from a seed."""

from collections.abc import Callable
from random import Random

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

ODD_TEXTS = (
    *("", " ", "\x00", "\ud7ff", "😀" * 50, "x" * 5_000, "'; DROP TABLE spans; --", "../../etc/passwd", "%s%n"),
    *("nan", "inf", "-inf", "1e400", "0.3", "-0", "1_000", "٣", "true", "null", "NULL", "0x10", "1" * 400),
    *("[", "]", "{}", "[]", '"', '["a", "b"]', '["a", null, 3, {"id": []}]', "[" * 300 + "]" * 300, '{"id": "a"}'),
    *('[{"id": "a", "score": "high"}]', '[{"id": null}]', '[{"id": "m", "metadata": {"confidence": 1e999}}]', "a,b"),
)
ODD_NUMBERS = (0, 1, -1, 2**63 - 1, -(2**63))
NESTED = 0.3
"""How often a value is an array or a mapping."""
ODD_DOUBLES = (0.0, -0.0, 0.3, 1.0, 1.5, -1.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1e308)


def mutant(data: bytes, rng: Random) -> bytes:
    """The data after one to six changes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        rng.choice(_EDITS)(changed, rng.randint(0, len(changed)), rng)
    return bytes(changed)


def _replace(data: bytearray, at: int, rng: Random) -> None:
    data[at : at + 1] = rng.randbytes(1)


def _flip(data: bytearray, at: int, rng: Random) -> None:
    if at < len(data):
        data[at] ^= 1 << rng.randrange(8)


def _insert(data: bytearray, at: int, rng: Random) -> None:
    data[at:at] = rng.choice([rng.randbytes(rng.randint(1, 9)), b"\xff" * 10, b"\x00", b"\x0b", b"[", b'"', b"1e999"])


def _delete(data: bytearray, at: int, rng: Random) -> None:
    del data[at : at + rng.randint(1, 20)]


def _copy(data: bytearray, at: int, rng: Random) -> None:
    data[at:at] = data[at : at + rng.randint(1, 200)]


def _cut(data: bytearray, at: int, rng: Random) -> None:
    if rng.random() < 0.2:
        del data[at:]


_EDITS: tuple[Callable[[bytearray, int, Random], None], ...] = (_replace, _flip, _insert, _delete, _copy, _cut)


def odd_value(rng: Random, depth: int = 3) -> AnyValue:
    """A value of any kind, its leaves out of those that are easily got wrong."""
    kinds = (_array, _mapping) if depth and rng.random() < NESTED else _LEAVES
    return rng.choice(kinds)(rng, depth - 1)


def _array(rng: Random, depth: int) -> AnyValue:
    return AnyValue(array_value=ArrayValue(values=[odd_value(rng, depth) for _ in range(rng.randrange(4))]))


def _mapping(rng: Random, depth: int) -> AnyValue:
    members = [KeyValue(key=rng.choice(ODD_TEXTS), value=odd_value(rng, depth)) for _ in range(3)]
    return AnyValue(kvlist_value=KeyValueList(values=members))


def _text(rng: Random, _: int) -> AnyValue:
    return AnyValue(string_value=rng.choice(ODD_TEXTS))


_LEAVES: tuple[Callable[[Random, int], AnyValue], ...] = (
    *(_text, _text, _text),
    lambda rng, _: AnyValue(double_value=rng.choice([*ODD_DOUBLES, rng.random()])),
    lambda rng, _: AnyValue(int_value=rng.choice(ODD_NUMBERS)),
    lambda rng, _: AnyValue(bool_value=rng.choice([False, True])),
    lambda rng, _: AnyValue(bytes_value=rng.randbytes(rng.randrange(20))),
    lambda _, __: AnyValue(),
)
