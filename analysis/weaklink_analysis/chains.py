"""Chain numbers of many versions at once, on arrays: what each version's ancestors say of it.

A version needs only its direct parents' numbers, one hop shorter. So hop after hop all versions are computed together,
and versions that do not change stand in with the numbers that are stored.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints: TypeAlias = npt.NDArray[np.int64]
Doubles: TypeAlias = npt.NDArray[np.float64]

_ONE_HOP = np.int64(1) << 40
"""How far a weakest ancestor is, in units of this, plus its rank by memory id: the smallest comes first."""
_NOWHERE = np.iinfo(np.int64).max - 32 * _ONE_HOP


def chain_numbers(nodes: pa.Table, links: pa.Table, standing: pa.Table, max_hops: int) -> pa.Table:
    """The rows of `chains` for the affected versions among the nodes.

    nodes: version_key, declared and affected, ordered by memory id. They hold affected versions, their parents, and who is
    the weakest above a standing parent. A key below 1 is that of no version: of an unresolved parent, with what stands
    in for its confidence, or null.
    links: child_key and parent_key of the affected versions, both among the nodes.
    standing: the stored rows of parents that are not affected.
    """
    return _Graph(nodes, links, max_hops).numbers(standing)


class _Places:
    """Where keys are in an ascending array of distinct ones."""

    def __init__(self, keys: Ints) -> None:
        self._keys, self._first = keys, keys[0] if len(keys) else np.int64(0)
        span = int(keys[-1] - self._first) + 1 if len(keys) else 0
        self._table = np.zeros(span if span < 4 * len(keys) else 0, dtype=np.int32)
        if len(self._table):
            self._table[keys - self._first] = np.arange(len(keys), dtype=np.int32)

    def of(self, keys: Ints) -> Ints:
        found: Ints = (
            self._table[keys - self._first] if len(self._table) else np.searchsorted(self._keys, keys)  # type: ignore[assignment]
        )
        return found


class _Graph:
    """Nodes in order of their keys, and links in order of their children."""

    def __init__(self, nodes: pa.Table, links: pa.Table, max_hops: int) -> None:
        keys = _ints(nodes, "version_key")
        self.rank = np.argsort(keys)
        self.key, self.max_hops = keys[self.rank], max_hops
        self.by_rank = np.empty_like(self.rank)
        self.by_rank[self.rank] = np.arange(len(keys))
        self.declared = _doubles(nodes, "declared")[self.rank]
        self.affected = np.flatnonzero(nodes.column("affected").to_numpy()[self.rank])
        self.places = _Places(self.key)
        child, parent = self.places.of(_ints(links, "child_key")), self.places.of(_ints(links, "parent_key"))
        if np.any(child[1:] < child[:-1]):
            order = np.argsort(child, kind="stable")
            child, parent = child[order], parent[order]
        self.parent = parent
        self.starts = np.flatnonzero(np.concatenate([[True], child[1:] != child[:-1]])) if len(child) else np.array([], int)
        self.children = child[self.starts]
        self.counts = np.diff(np.append(self.starts, len(child)))

    def numbers(self, standing: pa.Table) -> pa.Table:
        """The rows of the affected."""
        there = self.places.of(_ints(standing, "version_key"))
        missing = self.key[self.parent] < 1
        columns: dict[str, pa.Array] = {"version_key": pa.array(self.key[self.affected])}
        low, tie = np.full(len(self.key), np.inf), np.full(len(self.key), _NOWHERE)
        for hop in range(1, self.max_hops + 1):
            before = low[there], tie[there]
            low, tie = self._next(low, tie)
            low[there], tie[there] = self._stored(standing, hop, *before)
            none = np.isinf(low[self.affected])
            weakest = self.by_rank[np.where(none, 0, tie[self.affected] % _ONE_HOP)]
            columns[f"low_{hop}"] = pa.array(low[self.affected], mask=none)
            columns[f"at_{hop}"] = pa.array(self.key[weakest], mask=none)
        columns["chain_depth"] = pa.array(self._depth(there, standing, missing)[self.affected])
        columns["unresolved_parents"] = pa.array(self._spread(np.add, missing.astype(np.int32), 0)[self.affected])
        columns["gap"] = pa.array(self._gap(there, standing, missing)[self.affected])
        columns["loops"] = pa.array(~none & (weakest == self.affected))
        return pa.table(columns)

    def _next(self, low: Doubles, tie: Ints) -> tuple[Doubles, Ints]:
        """The weakest within one hop more: of each parent itself and of what is above it; and its hop and rank."""
        itself = self.declared <= low
        reach = np.where(itself, self.declared, low)[self.parent]
        order = np.where(itself, _ONE_HOP + self.rank, tie + _ONE_HOP)[self.parent]
        low = self._spread(np.minimum, reach, np.inf)
        order[reach > np.repeat(low[self.children], self.counts)] = _NOWHERE
        return low, self._spread(np.minimum, order, _NOWHERE)

    def _stored(self, standing: pa.Table, hop: int, low_before: Doubles, tie_before: Ints) -> tuple[Doubles, Ints]:
        """What `_next` would say of the standing: their weakest is this far where it was not as weak one hop nearer."""
        low = _doubles(standing, f"low_{hop}")
        lower = low < low_before
        tie = tie_before.copy()
        weakest = self.places.of(_ints(standing, f"at_{hop}")[lower])
        tie[lower] = hop * _ONE_HOP + self.rank[weakest]
        return low, tie

    def _depth(self, there: Ints, standing: pa.Table, missing: npt.NDArray[np.bool_]) -> Ints:
        """The longest chain above: one longer than the longest above a parent."""
        depth, stored = np.zeros(len(self.key), np.int32), _ints(standing, "chain_depth")
        for _ in range(self.max_hops + 1):
            depth[there] = stored
            steps = np.where(missing, 0, np.minimum(1 + depth[self.parent], self.max_hops + 1))
            depth = self._spread(np.maximum, steps.astype(np.int32), 0)
        return depth

    def _gap(self, there: Ints, standing: pa.Table, missing: npt.NDArray[np.bool_]) -> Ints:
        """Hops to the nearest version with an unresolved parent."""
        gap, stored = np.full(len(self.key), self.max_hops, np.int32), _ints(standing, "gap")
        for _ in range(self.max_hops):
            gap[there] = stored
            steps = np.where(missing, 0, np.minimum(1 + gap[self.parent], self.max_hops))
            gap = self._spread(np.minimum, steps.astype(np.int32), self.max_hops)
        return gap

    def _spread(self, of_all: np.ufunc, values: npt.NDArray[Any], none: float) -> npt.NDArray[Any]:
        """What the links of each node come to together; `none` where it has no link."""
        result = np.full(len(self.key), none, values.dtype)
        if len(values):
            result[self.children] = of_all.reduceat(values, self.starts)
        return result


def _ints(table: pa.Table, name: str) -> Ints:
    """A column, 0 where it is null."""
    values: Ints = table.column(name).cast(pa.int64()).fill_null(0).to_numpy()
    return values


def _doubles(table: pa.Table, name: str) -> Doubles:
    """A column, infinite where it is null."""
    values: Doubles = table.column(name).cast(pa.float64()).fill_null(np.inf).to_numpy()
    return values
