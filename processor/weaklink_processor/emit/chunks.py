"""Many items into few: lists that are bounded in number and in bytes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def chunks(items: Iterable[T], most: int, max_bytes: int, size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Split into lists of at most `most` items and `max_bytes` in all; an item that is larger is alone."""
    chunk: list[T] = []
    size = 0
    for item in items:
        own = size_of(item)
        if chunk and (len(chunk) == most or size + own > max_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += own
    if chunk:
        yield chunk
