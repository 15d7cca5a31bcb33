"""The span batch as a value, and attribute keys picked out of it into columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Rows: TypeAlias = npt.NDArray[np.integer] | npt.NDArray[np.bool_] | pa.Array | pa.ChunkedArray


@dataclass(frozen=True, slots=True)
class SpanBatch:
    """Some spans: row i of each table is one span."""

    spans: pa.Table
    """SPAN_SCHEMA."""
    keys: pa.Table
    """KEY_SCHEMA."""

    def __len__(self) -> int:
        return int(self.spans.num_rows)


def pick_attributes(attributes: pa.MapArray | pa.ChunkedArray, keys: Sequence[str]) -> pa.Table:
    """One nullable string column a key, named as it: that key's first value in each row's map, null without one.

    `attributes` is map<string, string> with no null map. Keys must be distinct.
    """
    schema = pa.schema([(key, pa.string()) for key in keys])
    chunks = attributes.chunks if isinstance(attributes, pa.ChunkedArray) else [attributes]
    wanted = pa.array(keys, pa.string())
    return pa.Table.from_batches([pa.record_batch(_pick(chunk, wanted), schema) for chunk in chunks], schema)


def _pick(attributes: pa.MapArray, keys: pa.StringArray) -> list[pa.StringArray]:
    """The columns of one chunk, cut from a single `take` of all the values that were found."""
    count = len(attributes)
    entries = _first_entries(attributes, keys)
    found = entries >= 0
    cells = np.flatnonzero(found)
    values = attributes.items.take(pa.array(entries.ravel().take(cells)))
    bounds = np.zeros(found.size + 1, dtype=np.int32)
    bounds[cells + 1] = pc.binary_length(values)
    np.cumsum(bounds, out=bounds)
    valid = np.packbits(found, axis=1, bitorder="little")
    return [
        pa.StringArray.from_buffers(
            count,
            pa.py_buffer(bounds[row * count : (row + 1) * count + 1]),
            values.buffers()[2],
            pa.py_buffer(valid[row]),
        )
        for row in range(len(keys))
    ]


def _first_entries(attributes: pa.MapArray, keys: pa.StringArray) -> npt.NDArray[np.int32]:
    """[key, row] -> index among the map's entries of the row's first entry with that key, -1 if it has none."""
    offsets = attributes.offsets.to_numpy()
    entries = attributes.keys[offsets[0] : offsets[-1]]
    code = pc.index_in(entries, value_set=keys).fill_null(-1).to_numpy()
    hits = np.flatnonzero(code >= 0)
    row = np.repeat(np.arange(len(attributes)), np.diff(offsets))[hits]
    cell = code[hits] * np.int64(len(attributes)) + row
    entry = hits.astype(np.int32) + offsets[0]
    first = np.full(len(keys) * len(attributes), -1, dtype=np.int32)
    first[cell] = entry
    # Of several entries of one cell numpy leaves any; `minimum.at` is exact, but slow for all of them.
    lost = first[cell] != entry
    np.minimum.at(first, cell[lost], entry[lost])
    return first.reshape(len(keys), len(attributes))
