"""pick_attributes and SpanBatch.take against plain readings of the same rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decode.wire import request
from weaklink_analysis.batch import pick_attributes
from weaklink_analysis.spans import ATTRIBUTES
from weaklink_processor.decode.batch import decode

KEYS = st.sampled_from(["a", "b", "é", ""])
MAPS = st.lists(st.lists(st.tuples(KEYS, st.text(max_size=3)), max_size=5), max_size=9)


def first(entries: list[tuple[str, str]], key: str) -> str | None:
    return next((text for name, text in entries if name == key), None)


@given(MAPS, MAPS, st.lists(KEYS, unique=True), st.integers(0, 9))
def test_first_value_of_each_key(
    one: list[list[tuple[str, str]]], two: list[list[tuple[str, str]]], keys: list[str], skipped: int
) -> None:
    """A key's column has each row's first value, null where the row has none; in chunks and slices too."""
    column = pa.chunked_array([pa.array(one, ATTRIBUTES), pa.array(two, ATTRIBUTES)]).slice(skipped)
    picked = pick_attributes(column, keys)
    picked.validate(full=True)
    rows = (one + two)[skipped:]
    assert picked.column_names == keys
    assert picked.to_pydict() == {key: [first(row, key) for row in rows] for key in keys}


def test_one_array() -> None:
    """An array that is not chunked will do."""
    assert pick_attributes(pa.array([[("a", "1")]], ATTRIBUTES), ["a"]).to_pylist() == [{"a": "1"}]


@pytest.mark.parametrize("rows", [[], [2, 0], [1, 1]])
def test_take_by_index(rows: list[int]) -> None:
    """The spans come in the order of the indices, keys and spans alike."""
    batch = decode([request(seed) for seed in range(9)])
    taken = batch.take(np.array(rows, dtype=np.int64))
    assert len(taken) == len(rows)
    assert taken.spans.to_pylist() == [batch.spans.to_pylist()[row] for row in rows]
    assert taken.keys.to_pylist() == [batch.keys.to_pylist()[row] for row in rows]


def test_take_by_mask() -> None:
    """A mask keeps the spans where it is true, as a numpy array, an Arrow array or a chunked one."""
    batch = decode([request(seed) for seed in range(9)])
    mask = np.arange(len(batch)) % 2 == 0
    kept = batch.spans.to_pylist()[::2]
    for form in (mask, pa.array(mask), pa.chunked_array([mask[:3], mask[3:]])):
        assert batch.take(form).spans.to_pylist() == kept
        assert len(batch.take(form).keys) == len(kept)
