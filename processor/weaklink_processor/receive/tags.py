"""How many submessages a payload can have at most, from a look at its bytes alone.

A field of protobuf begins with its tag byte: the number times 8, and 2 for anything that has a length. Whatever else
such a byte may be, there is none of these fields without it. The top bit does not count: with it a tag is written
longer than it needs to be.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

# What the fields' tag bytes are under a mask.
PARTS_OF_A_SPAN: Final = (0x4F, 0x4A)  # fields 9, 11, 13, 15: attributes, events, links, status
FIELDS_1_TO_7: Final = (0x47, 0x02)  # all other submessages are among these
FIELD_2: Final = (0x7F, 0x12)  # spans, and others
BYTES_EACH: Final = 92  # of memory that upb takes for a message without contents, measured; grown arrays included
MORE_FOR_SPANS: Final = 88
AT_ONCE: Final = 1 << 18  # stays in the processor's cache


def submessages(payload: bytes) -> int:
    """The most submessages of any kind."""
    return _count(payload, *PARTS_OF_A_SPAN) + _count(payload, *FIELDS_1_TO_7)


def parsed_bytes(payload: bytes) -> int:
    """The most memory that upb takes to parse it."""
    return len(payload) + BYTES_EACH * submessages(payload) + MORE_FOR_SPANS * _count(payload, *FIELD_2)


def _count(payload: bytes, mask: int, tag: int) -> int:
    return sum(int(np.count_nonzero((part & np.uint8(mask)) == np.uint8(tag))) for part in _slices(payload))


def _slices(payload: bytes) -> Iterator[npt.NDArray[np.uint8]]:
    whole = np.frombuffer(payload, np.uint8)
    return (whole[start : start + AT_ONCE] for start in range(0, len(whole), AT_ONCE))
