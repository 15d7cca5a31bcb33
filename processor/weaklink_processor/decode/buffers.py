"""Arrow's variable-length arrays as the numpy arrays that they are made of."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes: TypeAlias = npt.NDArray[np.uint8]
Bounds: TypeAlias = npt.NDArray[np.int32]


def buffers_of(array: pa.BinaryArray | pa.StringArray) -> tuple[Bounds, Bytes]:
    """(bounds, data) without a copy: value i is data[bounds[i]:bounds[i + 1]]."""
    _, bounds, data = array.buffers()
    # Arrow leaves out the buffers of an empty array.
    return (
        np.frombuffer(bounds, dtype=np.int32)[array.offset : array.offset + len(array) + 1]
        if bounds
        else np.zeros(1, dtype=np.int32),
        np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, dtype=np.uint8),
    )
