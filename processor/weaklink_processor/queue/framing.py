"""Length-delimited messages: a varint length before each, as in `.binpb` files.

https://protobuf.dev/programming-guides/techniques/#streaming
"""

from collections.abc import Iterable, Iterator

from weaklink_processor.varint import varint

_VARINT_BYTES = 10  # the longest varint: 64 bits, 7 to a byte
_SEVEN_BITS = 0x7F


def join(messages: Iterable[bytes]) -> bytes:
    """One block that holds `messages` in order."""
    return b"".join(part for message in messages for part in (varint(len(message)), message))


def split(block: bytes) -> list[bytes]:
    """The messages of a block that `join` made; ValueError when it ends inside one."""
    return list(_messages(block))


def _messages(block: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(block):
        start, length = _length_at(block, start)
        end = start + length
        if end > len(block):
            raise ValueError(f"message of {length} bytes at byte {start}, of which {len(block) - start} are there")
        yield block[start:end]
        start = end


def _length_at(block: bytes, start: int) -> tuple[int, int]:
    """Where the message starts, and its length in bytes."""
    length = 0
    for place, digit in enumerate(block[start : start + _VARINT_BYTES]):
        length |= (digit & _SEVEN_BITS) << 7 * place
        if digit <= _SEVEN_BITS:
            return start + place + 1, length
    raise ValueError(f"no message length at byte {start}")
