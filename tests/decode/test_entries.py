"""Each encoding of an attribute: its key, text and type code, as weaklink_analysis.spans documents them."""

import struct
from random import Random

import pyarrow as pa
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from decode.plain import text_and_code
from decode.wire import FIXED64, VARINT, field, group, message, varint
from weaklink_processor.decode.entries import decode_entries

Read = tuple[str, str, str]


def decoded(wires: list[bytes]) -> list[Read]:
    """Return (key, text, code) of each serialized KeyValue."""
    entries = decode_entries(pa.array(wires, pa.binary()))
    entries.keys.validate(full=True)
    entries.texts.validate(full=True)
    return list(zip(entries.keys.to_pylist(), entries.texts.to_pylist(), entries.codes.tobytes().decode(), strict=True))


def read_plainly(wire: bytes) -> Read:
    entry = KeyValue.FromString(wire)
    return entry.key, *text_and_code(entry.value)


def double(value: float) -> bytes:
    return field(4, struct.pack("<d", value), FIXED64)


def integer(value: int, width: int = 1) -> bytes:
    return field(3, varint(value, width), VARINT)


def array(*values: bytes) -> bytes:
    return field(5, b"".join(field(1, value) for value in values))


def kvlist(*entries: bytes) -> bytes:
    return field(6, b"".join(field(1, each) for each in entries))


def entry(key: bytes, value: bytes) -> bytes:
    return field(1, key) + field(2, value)


VALUES = [
    ("empty", b"", "", "n"),
    ("string", field(1, b"a"), "a", "s"),
    ("empty string", field(1, b""), "", "s"),
    ("string with NUL, quote, unicode", field(1, '\0"é😀'.encode()), '\0"é😀', "s"),
    ("longest string with a one-byte length", field(1, b"x" * 127), "x" * 127, "s"),
    ("shortest string with a two-byte length", field(1, b"x" * 128), "x" * 128, "s"),
    ("longest string with a two-byte length", field(1, b"x" * 16383), "x" * 16383, "s"),
    ("shortest string with a three-byte length", field(1, b"x" * 16384), "x" * 16384, "s"),
    ("string of three MB", field(1, b"x" * 3_000_000), "x" * 3_000_000, "s"),
    ("overlong length", varint(1 << 3 | 2) + varint(1, 3) + b"a", "a", "s"),
    ("overlong tag", varint(1 << 3 | 2, 2) + varint(1) + b"a", "a", "s"),
    ("false", field(2, b"\0", VARINT), "false", "b"),
    ("true", field(2, b"\1", VARINT), "true", "b"),
    ("true that is not 1", field(2, b"\x40", VARINT), "true", "b"),
    ("true in ten bytes", field(2, varint(1 << 63), VARINT), "true", "b"),
    ("int 0", integer(0), "0", "i"),
    ("int -1", integer(-1), "-1", "i"),
    ("largest int", integer(2**63 - 1), "9223372036854775807", "i"),
    ("smallest int", integer(-(2**63)), "-9223372036854775808", "i"),
    ("overlong int", integer(5, 10), "5", "i"),
    ("0.3", double(0.3), "0.3", "d"),
    ("whole double", double(1.0), "1.0", "d"),
    ("minus zero", double(-0.0), "-0.0", "d"),
    ("small double", double(1e-7), "1e-07", "d"),
    ("large double", double(1e16), "1e+16", "d"),
    ("whole double of 15 digits", double(123456789012345.0), "123456789012345.0", "d"),
    ("NaN", double(float("nan")), "NaN", "d"),
    ("signalling NaN", field(4, struct.pack("<Q", 0x7FF0000000000001), FIXED64), "NaN", "d"),
    ("infinity", double(float("inf")), "Infinity", "d"),
    ("minus infinity", double(float("-inf")), "-Infinity", "d"),
    ("bytes", field(7, b"\xff\0"), "/wA=", "y"),
    ("no bytes", field(7, b""), "", "y"),
    ("no items", field(5, b""), "[]", "a"),
    ("items", array(field(1, "é".encode()), b"", double(1.0)), '["é",null,1.0]', "a"),
    ("nested bytes", array(field(7, b"\xff")), '[{"$bytes":"/w=="}]', "a"),
    ("nested NaN", array(double(float("nan"))), '[{"$double":"NaN"}]', "a"),
    ("no entries", field(6, b""), "{}", "k"),
    ("entries", kvlist(entry(b"b", integer(1)), entry(b"a", b"")), '{"b":1,"a":null}', "k"),
    ("repeated key", kvlist(entry(b"a", integer(1)), entry(b"b", b""), entry(b"a", b"")), '{"a":1,"b":null}', "k"),
    ("two members, the last counts", field(1, b"a") + integer(7), "7", "i"),
    ("two strings", field(1, b"a") + field(1, b"b"), "b", "s"),
    ("two arrays are one", array(integer(1)) + array(integer(2)), "[1,2]", "a"),
    ("unknown field first", field(99, b"?") + field(1, b"a"), "a", "s"),
    ("unknown group last", field(1, b"a") + group(99), "a", "s"),
    ("unknown field alone", field(99, b"?"), "", "n"),
    ("known number, other wire type", field(1, b"\7", VARINT), "", "n"),
    ("index into a string table, which traces have not", field(8, b"\7", VARINT), "", "n"),
]


A, B = field(1, b"a"), field(1, b"b")
ENTRIES = [
    ("nothing", b"", ("", "", "n")),
    ("no key", field(2, A), ("", "a", "s")),
    ("empty key", field(1, b"") + field(2, A), ("", "a", "s")),
    ("no value", field(1, b"k"), ("k", "", "n")),
    ("value first", field(2, A) + field(1, b"k"), ("k", "a", "s")),
    ("longest key with a one-byte length", entry(b"k" * 127, A), ("k" * 127, "a", "s")),
    ("shortest key with a two-byte length", entry(b"k" * 128, A), ("k" * 128, "a", "s")),
    ("key of 300 bytes", entry(b"k" * 300, A), ("k" * 300, "a", "s")),
    ("unicode key", entry("é😀".encode(), A), ("é😀", "a", "s")),
    ("two keys, the last counts", field(1, b"j") + entry(b"k", A), ("k", "a", "s")),
    ("two values, the last member counts", entry(b"k", A) + field(2, B), ("k", "b", "s")),
    ("two values, the last without a member", entry(b"k", A) + field(2, b""), ("k", "a", "s")),
    ("two values that are one array", field(2, array(A)) + field(2, array(B)), ("", '["a","b"]', "a")),
    ("overlong length of the key", b"\x0a" + varint(1, 3) + b"k" + field(2, A), ("k", "a", "s")),
    ("overlong length of the value", field(1, b"k") + b"\x12" + varint(3, 2) + A, ("k", "a", "s")),
    ("overlong tag", varint(1 << 3 | 2, 2) + varint(1) + b"k" + field(2, A), ("k", "a", "s")),
    ("unknown field first", field(99, b"?") + entry(b"k", A), ("k", "a", "s")),
    ("unknown field between", field(1, b"k") + field(99, b"?") + field(2, A), ("k", "a", "s")),
    ("unknown group last", entry(b"k", A) + group(99), ("k", "a", "s")),
    ("index into a string table, which traces have not", field(3, b"\7", VARINT) + field(2, A), ("", "a", "s")),
]
CASES = [(name, entry(b"k", wire), ("k", text, code)) for name, wire, text, code in VALUES] + ENTRIES


@pytest.mark.parametrize(("wire", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_encoding(wire: bytes, expected: Read) -> None:
    """An encoding reads the same alone, with neighbours, and through the generated class."""
    other = entry(b"x", B)
    assert decoded([wire]) == [expected]
    assert decoded([other, wire, other, wire]) == [("x", "b", "s"), expected] * 2
    assert read_plainly(wire) == expected


@given(st.lists(st.integers(0, 2**32), max_size=30))
def test_entries_equal_the_plain_reading(seeds: list[int]) -> None:
    """Any entries, side by side in one array, read as the generated class reads each."""
    wires = [message(Random(seed), KeyValue.DESCRIPTOR, depth=5) for seed in seeds]
    assert decoded(wires) == [read_plainly(wire) for wire in wires]


@given(st.binary(max_size=12), st.integers(0, 12))
def test_any_bytes_are_read_as_upb_does_or_refused(noise: bytes, cut: int) -> None:
    """Bytes that are no KeyValue raise ValueError, and what upb reads is read the same."""
    wire = entry(b"k", integer(300))[:cut] + noise
    try:
        expected = read_plainly(wire)
    except DecodeError:
        with pytest.raises(ValueError, match=r"KeyValue|UTF8"):
            decoded([wire])
    else:
        assert decoded([wire]) == [expected]


@given(st.lists(st.one_of(st.floats(), st.floats(1e-5, 1e16), st.integers(-(10**17), 10**17).map(float)), min_size=1))
def test_doubles_round_trip(numbers: list[float]) -> None:
    """A double's text is Python's shortest, so it reads back as the same double."""
    texts = [text for _, text, _ in decoded([entry(b"k", double(number)) for number in numbers])]
    assert [repr(float(text)) for text in texts] == [repr(number) for number in numbers]
    assert all(set(".eNI") & set(text) for text in texts)


@pytest.mark.parametrize("value", [b"\n", b"\n\5a", b"\x18", b"\x18\x80", b"\x21\0", b"\x0c"])
def test_malformed_value(value: bytes) -> None:
    """A truncated or malformed value is an error, never a guess."""
    with pytest.raises(ValueError, match="KeyValue"):
        decoded([entry(b"k", value)])


def test_a_slice_of_an_array() -> None:
    """Entries are found by their offsets, also where the array is a part of a larger one."""
    wires = [entry(b"skipped", A), entry(b"k", integer(1)), entry(b"l", B), entry(b"skipped", A)]
    entries = decode_entries(pa.array(wires, pa.binary())[1:3])
    assert (entries.keys.to_pylist(), entries.texts.to_pylist()) == (["k", "l"], ["1", "b"])
    assert entries.codes.tobytes() == b"is"
