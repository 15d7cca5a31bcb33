"""Protobuf's numbers of as many bytes as they need.

https://protobuf.dev/programming-guides/encoding/#varints
"""


def varint(number: int) -> bytes:
    """The shortest encoding of a number that is not negative."""
    encoded = bytearray()
    while number > 0x7F:  # noqa: PLR2004  seven bits a byte
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
