"""Lists of serialized KeyValues -> MAP columns and the type codes beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from weaklink_processor.decode.entries import decode_entries


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of n owners: each one's map<key, text>, and its values' type codes in the map's order."""

    texts: pa.MapArray
    types: pa.StringArray


def decode_attributes(lists: Sequence[pa.ListArray]) -> list[Attributes]:
    """The attributes of each list<KeyValue> column; all in one go, as a call costs more than a few entries."""
    flat = [column.flatten() for column in lists]
    entries = decode_entries(pa.concat_arrays(flat))
    ends = np.cumsum([len(part) for part in flat]).tolist()
    return [
        Attributes(
            pa.MapArray.from_arrays(column.offsets, entries.keys[start:end], entries.texts[start:end]),
            pa.StringArray.from_buffers(
                len(column), pa.py_buffer(column.offsets.to_numpy()), pa.py_buffer(entries.codes[start:end])
            ),
        )
        for column, start, end in zip(lists, [0, *ends[:-1]], ends, strict=True)
    ]
