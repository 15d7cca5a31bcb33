"""Protobuf's numbers of as many bytes as they need.

https://protobuf.dev/programming-guides/encoding/#varints
"""

from typing import Final

CONTINUES: Final = 0x80
"""The bit that each byte of a varint has but the last."""
LONGEST: Final = 10
"""Bytes: 64 bits, 7 to a byte."""
_SEVEN_BITS: Final = 0x7F
_LAST_SHIFT: Final = 7 * (LONGEST - 1)


def varint(number: int) -> bytes:
    """The shortest encoding of a number that is not negative."""
    encoded = bytearray()
    while number >= CONTINUES:
        encoded.append(number & _SEVEN_BITS | CONTINUES)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and where the next thing does.

    Raises:
        IndexError: the data ends before it.
        ValueError: it is longer than one can be.
    """
    number = data[at]
    if number < CONTINUES:  # nearly all are one byte
        return number, at + 1
    start, shift = at, 0
    number &= _SEVEN_BITS
    while shift < _LAST_SHIFT:
        at, shift = at + 1, shift + 7
        byte = data[at]
        number |= (byte & _SEVEN_BITS) << shift
        if byte < CONTINUES:
            return number, at + 1
    raise ValueError(f"a number of more than {LONGEST} bytes at byte {start}")
