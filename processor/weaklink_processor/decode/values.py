"""Serialized AnyValues -> text and type codes, without a Python object a value.

Read here is a value that is one field and nothing else: a tag byte, then exactly the bytes that this
field needs. Such a value has one reading, so no rule of protobuf is approximated; all others are left
to nested.py. Text and codes are those of weaklink_analysis.spans.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weaklink_processor.decode.buffers import Bytes
from weaklink_processor.decode.nested import double_text
from weaklink_processor.decode.wire import CONTINUES, Ints, Mask, Rows, Wire

# AnyValue's tag bytes: field number, wire type.
_STRING: Final = 1 << 3 | 2
_BOOL: Final = 2 << 3 | 0
_INT: Final = 3 << 3 | 0
_DOUBLE: Final = 4 << 3 | 1

# Between these Arrow writes a fraction as Python does; elsewhere 1e-05 as 0.00001, 1e10 + 0.5 as 1.00000000005e+10,
# and a whole number without its .0.
_ALIKE_FROM: Final = 1e-4
_ALIKE_BELOW: Final = 1e10

_BOOL_TEXTS: Final = pa.array(["false", "true"])


@dataclass(frozen=True, slots=True)
class Values:
    """What was read of n values."""

    codes: Bytes
    """The type codes in ASCII; 0: not read."""
    text_starts: Ints
    """Where the text of a string, or of an empty value, starts in the data; it goes on to the value's end."""
    texts: list[tuple[Rows, pa.StringArray]]
    """The texts of the others, each kind's with the rows that they are for."""


def read_values(wire: Wire, present: Mask) -> Values:
    """Read the values where `present`; strings must be valid UTF-8, as upb has made sure."""
    tags = np.where(present & (wire.size > 0), wire.byte(0), 0)
    payload = wire.skip(1)
    widths = payload.length_widths()
    is_string = (tags == _STRING) & (widths > 0)
    codes = np.zeros(len(tags), dtype=np.uint8)
    codes[is_string] = ord("s")
    codes[present & (wire.size == 0)] = ord("n")
    texts = []
    for tag, code, read in _SCALARS:
        rows = np.flatnonzero(tags == tag)
        valid, text = read(payload.take(rows))
        codes[rows[valid]] = ord(code)
        texts.append((rows[valid], text))
    return Values(codes, np.where(is_string, payload.start + widths, wire.start), texts)


def _bools(payload: Wire) -> tuple[Mask, pa.StringArray]:
    byte = payload.byte(0)
    valid = (payload.size == 1) & (byte < CONTINUES)
    return valid, _BOOL_TEXTS.take(pa.array(byte[valid] > 0).cast(pa.uint8()))


def _ints(payload: Wire) -> tuple[Mask, pa.StringArray]:
    number, valid = payload.varints(payload.size)
    return valid, pa.array(number[valid].view(np.int64)).cast(pa.string())


def _doubles(payload: Wire) -> tuple[Mask, pa.StringArray]:
    valid = payload.size == np.dtype("<f8").itemsize
    at = payload.start[valid, np.newaxis] + np.arange(8, dtype=np.int32)
    return valid, _double_texts(payload.data[at].view("<f8").ravel())


def _double_texts(numbers: npt.NDArray[np.float64]) -> pa.StringArray:
    with np.errstate(invalid="ignore"):  # a signalling NaN
        magnitude = np.abs(numbers)
        alike = (magnitude >= _ALIKE_FROM) & (magnitude < _ALIKE_BELOW) & (numbers != np.floor(numbers))
    distinct, which = np.unique(numbers[~alike].view(np.uint64), return_inverse=True)
    others = pa.array([double_text(number) for number in distinct.view(np.float64).tolist()], pa.string())
    return pc.replace_with_mask(pa.array(numbers).cast(pa.string()), pa.array(~alike), others.take(pa.array(which)))


_SCALARS: Final[tuple[tuple[int, str, Callable[[Wire], tuple[Mask, pa.StringArray]]], ...]] = (
    (_BOOL, "b", _bools),
    (_INT, "i", _ints),
    (_DOUBLE, "d", _doubles),
)
