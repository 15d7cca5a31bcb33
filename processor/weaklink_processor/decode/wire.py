"""Ranges of protobuf bytes, many at once: the few steps of parsing that need no Python object a range."""

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weaklink_processor.decode.buffers import Bytes, buffers_of

Ints: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.intp]

CONTINUES: Final = 0x80  # the bit that each byte of a varint has but the last
_LONGEST_VARINT: Final = 10
# A length and what it measures are together at most 128 bytes if the length is one byte, 16,385 if it is two, ...
_LONGEST: Final = np.array([(1 << 7 * width) - 1 + width for width in range(1, 5)], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Wire:
    """n ranges of `data`: range i is the `size[i]` bytes from `start[i]` on (negative: past its end)."""

    data: Bytes
    start: Ints
    size: Ints

    @classmethod
    def of(cls, values: pa.BinaryArray) -> "Wire":
        """Each value is a range."""
        bounds, data = buffers_of(values)
        # At least one byte, so that `byte` has something to clip to.
        return cls(data if len(data) else np.zeros(1, dtype=np.uint8), bounds[:-1], np.diff(bounds))

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: Rows) -> "Wire":
        """Only these ranges."""
        return Wire(self.data, self.start[rows], self.size[rows])

    def skip(self, count: Ints | int) -> "Wire":
        """The ranges without their first `count` bytes."""
        return Wire(self.data, self.start + count, self.size - count)

    def byte(self, position: int) -> Bytes:
        """That byte of each range; of one too short to have it, some byte."""
        return self.data.take(self.start + position, mode="clip")

    def varints(self, width: Ints) -> tuple[npt.NDArray[np.uint64], Mask]:
        """The first `width` bytes of each range as a varint, and whether they are one."""
        value = np.zeros(len(width), dtype=np.uint64)
        valid = (width >= 1) & (width <= _LONGEST_VARINT)
        for position in range(int(width[valid].max(initial=0))):
            inside = position < width
            byte = self.byte(position)
            value |= np.where(inside, byte & ~np.uint8(CONTINUES), 0).astype(np.uint64) << np.uint64(7 * position)
            valid &= ~inside | ((byte >= CONTINUES) == (position + 1 < width))
        return value, valid

    def length_widths(self) -> Ints:
        """Of each range that is a length and then just as many bytes, the length's width; 0 of any other.

        A length that is written longer than it needs to be counts as any other.
        """
        short = (self.size >= 1) & (self.size <= _LONGEST[0]) & (self.byte(0) == self.size - 1)
        widths: Ints = short.astype(np.int32)
        rows = np.flatnonzero(self.size > _LONGEST[0])
        long = self.take(rows)
        width = (1 + np.searchsorted(_LONGEST, long.size)).astype(np.int32)
        length, valid = long.varints(width)
        widths[rows] = np.where(valid & (length == (long.size - width).astype(np.uint64)), width, 0)
        return widths
