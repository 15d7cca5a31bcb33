"""Length-delimited messages: a varint length before each, as in `.binpb` files.

https://protobuf.dev/programming-guides/techniques/#streaming
"""

from collections.abc import Iterable, Iterator

from weaklink_processor.varint import read_varint, varint


def join(messages: Iterable[bytes]) -> bytes:
    """One block that holds `messages` in order."""
    return b"".join(part for message in messages for part in (varint(len(message)), message))


def split(block: bytes) -> list[bytes]:
    """The messages of a block that `join` made; ValueError when it ends inside one."""
    return list(_messages(block))


def _messages(block: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(block):
        try:
            length, start = read_varint(block, start)
        except (IndexError, ValueError):
            raise ValueError(f"no message length at byte {start}") from None
        end = start + length
        if end > len(block):
            raise ValueError(f"message of {length} bytes at byte {start}, of which {len(block) - start} are there")
        yield block[start:end]
        start = end
