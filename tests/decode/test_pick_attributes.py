"""pick_attributes against a plain reading of the same rows."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis.batch import pick_attributes
from weaklink_analysis.spans import ATTRIBUTES

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
