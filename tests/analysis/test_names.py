"""The index of names: what it finds of what it was given."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis.names import NameIndex

# Few high halves, so that names collide in what the index keeps of a hash, and runs of them are long.
HASHES = st.builds(lambda high, low: high << 32 | low, st.integers(0, 5), st.integers(0, 3)) | st.integers(0, 2**64 - 1)


@given(st.lists(st.lists(HASHES, max_size=9), max_size=9), st.lists(HASHES, max_size=9))
def test_it_finds_every_name_with_an_asked_hash_and_none_that_differs_in_the_high_half(
    batches: list[list[int]], others: list[int]
) -> None:
    """However names came in batches, all with an asked hash are found, each once, and else only what begins alike."""
    index = NameIndex()
    names: list[int] = []
    for batch in batches:
        keys = np.arange(len(names), len(names) + len(batch))
        index.add(np.array(batch, np.uint64), keys)
        names += batch
    asked = names[::2] + others
    found = index.find(np.array(asked, np.uint64)).tolist()
    assert len(found) == len(set(found))
    assert {key for key, name in enumerate(names) if name in asked} <= set(found)
    assert {names[key] >> 32 for key in found} <= {name >> 32 for name in asked}
