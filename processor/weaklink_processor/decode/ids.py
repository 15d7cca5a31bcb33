"""Trace and span ids: bytes -> hex text and key columns."""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weaklink_processor.decode.buffers import buffers_of

_TRACE_BYTES: Final = 16
_SPAN_BYTES: Final = 8

# byte -> its two hex digits, as the two bytes of a uint16
_HEX: Final = np.frombuffer(bytes(range(256)).hex().encode("ascii"), dtype=np.uint16)


def hex_text(ids: pa.BinaryArray) -> pa.StringArray:
    """Lower-case hex digits of ids of any length."""
    bounds, data = buffers_of(ids)
    digits = _HEX.take(data[bounds[0] : bounds[-1]])
    return pa.StringArray.from_buffers(len(ids), pa.py_buffer(2 * (bounds - bounds[0])), pa.py_buffer(digits))


def span_numbers(ids: pa.BinaryArray) -> npt.NDArray[np.uint64]:
    """Span ids as big-endian numbers, an empty id as 0. Raises ValueError for any other length."""
    bounds, data = buffers_of(ids)
    size = np.diff(bounds)
    present = size == _SPAN_BYTES
    if (size[~present] != 0).any():
        raise ValueError(f"a span id has neither 0 nor {_SPAN_BYTES} bytes")
    numbers = np.zeros(len(ids), dtype=np.uint64)
    numbers[present] = data[bounds[0] : bounds[-1]].view(">u8")
    return numbers


def trace_uuids(ids: pa.BinaryArray) -> pa.Array:
    """Trace ids as pa.uuid(). Raises ValueError for one that has not 16 bytes."""
    return pa.ExtensionArray.from_storage(pa.uuid(), ids.cast(pa.binary(_TRACE_BYTES)))
