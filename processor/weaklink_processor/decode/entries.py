"""Serialized KeyValues -> keys, texts and type codes, over one flat array.

The fast path takes an entry that is a key of at most 127 bytes and then a value, and nothing else,
with a value that values.py reads. All others are read by nested.py, each distinct one once.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weaklink_processor.decode.buffers import Bytes
from weaklink_processor.decode.nested import read_entry
from weaklink_processor.decode.values import read_values
from weaklink_processor.decode.wire import CONTINUES, Ints, Mask, Wire

_KEY: Final = 1 << 3 | 2  # KeyValue's tag bytes
_VALUE: Final = 2 << 3 | 2
_KEY_START: Final = 2  # after its tag and its length


@dataclass(frozen=True, slots=True)
class Entries:
    """n attributes."""

    keys: pa.StringArray
    texts: pa.StringArray
    codes: Bytes
    """Type codes in ASCII."""


def decode_entries(entries: pa.BinaryArray) -> Entries:
    """The key and the value of each serialized KeyValue; none may be null.

    Strings must be valid UTF-8, as upb has made sure. Raises ValueError for other entries that upb refuses.
    """
    wire = Wire.of(entries)
    value, regular = _split(wire)
    values = read_values(value, regular)
    pool = _Pool(_parts(wire, values.text_starts, regular))
    keys = np.arange(1, 4 * len(wire), 4, dtype=np.int32)
    texts = np.arange(3, 4 * len(wire), 4, dtype=np.int32)
    for rows, read in values.texts:
        texts[rows] = pool.add(read)
    left = np.flatnonzero(values.codes == 0)
    left_keys, left_texts, values.codes[left] = _read_singly(entries.take(pa.array(left)))
    keys[left], texts[left] = pool.add(left_keys), pool.add(left_texts)
    key_column, text_column = pool.take(keys, texts)
    return Entries(key_column, text_column, values.codes)


def _split(wire: Wire) -> tuple[Wire, Mask]:
    """The values, and which entries are a key and a value without anything else. Other values are nonsense."""
    key_size = wire.byte(1).astype(np.int32)
    after_key = wire.skip(_KEY_START + key_size)
    after_tag = after_key.skip(1)
    widths = after_tag.length_widths()
    regular = (wire.byte(0) == _KEY) & (key_size < CONTINUES) & (after_key.byte(0) == _VALUE) & (widths > 0)
    return after_tag.skip(widths), regular


def _parts(wire: Wire, text_starts: Ints, regular: Mask) -> pa.StringArray:
    """Four strings an entry: what comes before its key, the key, what comes between, the text.

    They are the wire's own bytes with other bounds, so that copying out keys and texts is one `take` each.
    """
    bounds = np.empty((len(wire), 4), dtype=np.int32)
    bounds[:, 0] = wire.start
    bounds[:, 1] = wire.start + _KEY_START
    bounds[:, 2] = bounds[:, 1] + wire.byte(1)
    bounds[:, 3] = text_starts
    bounds[~regular] = wire.start[~regular, np.newaxis]
    every = np.append(bounds, wire.start[-1:] + wire.size[-1:] if len(wire) else np.int32(0))
    return pa.StringArray.from_buffers(4 * len(wire), pa.py_buffer(every), pa.py_buffer(wire.data))


class _Pool:
    """Strings to take from: all in one array in the end."""

    def __init__(self, strings: pa.StringArray) -> None:
        self._arrays = [strings]
        self._length = len(strings)

    def add(self, strings: pa.StringArray) -> Ints:
        """Their indices."""
        first, self._length = self._length, self._length + len(strings)
        self._arrays.append(strings)
        return np.arange(first, self._length, dtype=np.int32)

    def take(self, *indices: Ints) -> list[pa.StringArray]:
        strings = pa.concat_arrays(self._arrays)
        return [pc.take(strings, pa.array(index), boundscheck=False) for index in indices]


def _read_singly(entries: pa.BinaryArray) -> tuple[pa.StringArray, pa.StringArray, Bytes]:
    """Keys, texts and codes by nested.py."""
    distinct = entries.dictionary_encode()
    read = [read_entry(entry) for entry in distinct.dictionary.to_pylist()]
    keys = pa.array([key for key, _, _ in read], pa.string())
    texts = pa.array([text for _, text, _ in read], pa.string())
    codes = np.array([ord(code) for _, _, code in read], dtype=np.uint8)
    return keys.take(distinct.indices), texts.take(distinct.indices), codes[distinct.indices.to_numpy()]
