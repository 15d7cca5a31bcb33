"""Where stored names may be, by their hash: in memory, as a look through millions of stored hashes costs too much."""

import numpy as np
import numpy.typing as npt

_KEY_BITS = np.uint64(32)
"""The low bits of an entry are the name's key, the high ones those of its hash."""


class NameIndex:
    """Sorted runs of entries of 8 bytes; each run is at least twice as long as the next.

    It may hold names whose insertion was rolled back: what it finds is to be compared with what is stored.
    """

    def __init__(self) -> None:
        self._runs: list[npt.NDArray[np.uint64]] = []

    def add(self, hashes: npt.NDArray[np.uint64], keys: npt.NDArray[np.int64]) -> None:
        """Take in names. Keys are below 2**32."""
        run = np.sort(_prefix(hashes) | keys.astype(np.uint64))
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(run)

    def find(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The keys of all names with one of these hashes, and perhaps of some others."""
        first = np.unique(_prefix(hashes))
        found = [run[_between(run, first)] for run in self._runs]
        keys = np.concatenate([*found, np.empty(0, np.uint64)]) & (np.uint64(1) << _KEY_BITS) - np.uint64(1)
        return keys.astype(np.int64)


def _prefix(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return hashes >> _KEY_BITS << _KEY_BITS


def _between(run: npt.NDArray[np.uint64], first: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Places in the run of entries that begin as one of `first`, which are in order."""
    starts = np.searchsorted(run, first)
    # The entry found is the first that is not smaller: nearly always at most this one begins alike.
    found = []
    while len(starts):
        inside = starts < len(run)
        starts, first = starts[inside], first[inside]
        same = _prefix(run[starts]) == first
        starts, first = starts[same], first[same]
        found.append(starts)
        starts = starts + 1
    return np.concatenate([*found, np.empty(0, np.int64)])
