"""Chain numbers of many versions at once, on arrays: what each version's ancestors say of it.

A version needs only its direct parents' numbers, one hop shorter. So hop after hop all versions are computed together,
and versions that do not change stand in with the numbers that are stored.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Doubles: TypeAlias = npt.NDArray[np.float64]

_ONE_HOP = np.int64(1) << 40
"""How far a weakest ancestor is, in units of this, plus its place among the nodes."""
_MANY = 8
"""If every so many-th node is asked for its order, all are put in order at once: later hops ask again."""
_PLACE = _ONE_HOP - 1
_NOWHERE = np.iinfo(np.int64).max - 32 * _ONE_HOP


def chain_numbers(nodes: pa.Table, links: pa.Table, standing: pa.Table, max_hops: int) -> pa.Table:
    """The rows of `chains` for the affected versions among the nodes.

    nodes: version_key, memory_id, declared and affected. They hold affected versions, their parents, and who is the
    weakest above a standing parent. A key below 1 is that of no version: of an unresolved parent, with what stands in
    for its confidence, or null.
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
        found = self._table[keys - self._first] if len(self._table) else np.searchsorted(self._keys, keys)
        return found.astype(np.int64)  # narrower places would be widened anew wherever they index


class _Order:
    """The order of nodes by memory id, found where it is asked for: few have a rival as weak and as near."""

    def __init__(self, memory_ids: pa.ChunkedArray, place: Ints) -> None:
        self._memory_ids, self._place = memory_ids, place
        self._rank = np.zeros(len(place), np.int64)
        self._in_order: Ints | None = None

    def of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The nodes in order, perhaps among others, and which of these each is."""
        in_order = self._in_order
        if in_order is None:
            asked = np.unique(nodes)
            if len(asked) * _MANY > len(self._place):
                asked = np.arange(len(self._place))
            ids = self._memory_ids.take(pa.array(self._place[asked])).combine_chunks()
            in_order = asked[pc.array_sort_indices(ids).to_numpy()]
            self._rank[in_order] = np.arange(len(in_order))
            self._in_order = in_order if len(asked) == len(self._place) else None
        return in_order, self._rank[nodes]


class _Graph:
    """Nodes in order of their keys, and links, those of a child together."""

    def __init__(self, nodes: pa.Table, links: pa.Table, max_hops: int) -> None:
        keys = _ints(nodes, "version_key")
        place = _ascending(keys)
        self.key, self.max_hops = keys[place], max_hops
        self.declared = _doubles(nodes, "declared")[place]
        self.affected = _slice(nodes.column("affected").to_numpy()[place])
        self.places, self.order = _Places(self.key), _Order(nodes.column("memory_id"), place)
        self.child = self.places.of(_ints(links, "child_key"))
        self.parent = self.places.of(_ints(links, "parent_key"))
        if not _together(self.child, len(keys)):
            order = np.argsort(self.child, kind="stable")
            self.child, self.parent = self.child[order], self.parent[order]
        self.missing = self.key < 1

    def numbers(self, standing: pa.Table) -> pa.Table:
        """The rows of the affected."""
        there, mine = self.places.of(_ints(standing, "version_key")), self.affected
        columns: dict[str, pa.Array] = {"version_key": pa.array(self.key[mine])}
        low, at = np.full(len(self.key), np.inf), np.zeros(len(self.key), np.int64)
        reach, order, newly = self.declared, _ONE_HOP + np.arange(len(self.key)), np.ones(len(self.key), np.bool_)
        for hop in range(1, self.max_hops + 1):
            lowest, tie = self._weakest(reach, order, newly, low)
            lowest[there], tie[there] = self._stored(standing, hop)
            newly = lowest < low
            np.copyto(at, tie & _PLACE, where=newly)
            low, reach, order = lowest, lowest, tie + _ONE_HOP
            none = np.isinf(low[mine])
            columns[f"low_{hop}"] = pa.array(low[mine], mask=none)
            columns[f"at_{hop}"] = pa.array(self.key[at[mine]], mask=none)
        columns["chain_depth"] = pa.array(self._depth(there, _ints(standing, "chain_depth"))[mine])
        columns["unresolved_parents"] = pa.array(self._unresolved()[mine])
        columns["gap"] = pa.array(self._gap(there, _ints(standing, "gap"))[mine])
        columns["loops"] = pa.array((at == np.arange(len(at)))[mine] & ~none)
        return pa.table(columns)

    def _weakest(self, reach: Doubles, order: Ints, newly: Bools, low: Doubles) -> tuple[Doubles, Ints]:
        """The lowest within one hop more, and where that is lower than `low`, the smallest order of those who are it.

        Only parents that became weaker with the last hop can make a child weaker with this one.
        """
        links = np.flatnonzero(newly[self.parent])
        low, tie = low.copy(), np.full(len(low), _NOWHERE)
        if len(links):
            every = len(links) == len(self.parent)
            child, parent = (self.child, self.parent) if every else (self.child[links], self.parent[links])
            starts = _starts(child)
            values, counts, children = reach[parent], np.diff(starts, append=len(child)), child[starts]
            lowest = np.minimum.reduceat(values, starts)
            lower = lowest < low[children]
            weakest = np.flatnonzero(values == np.repeat(np.where(lower, lowest, np.nan), counts))
            children = np.compress(lower, children)
            low[children] = np.compress(lower, lowest)
            tie[children] = self._first(child[weakest], order[parent[weakest]])
        return low, tie

    def _first(self, children: Ints, orders: Ints) -> Ints:
        """Of each child's orders, which stand together, the nearest; of several, that of the smallest memory id."""
        starts = _starts(children)
        if len(starts) == len(orders):
            return orders
        counts = np.diff(starts, append=len(orders))
        several = counts > 1
        first, tied = orders[starts], np.compress(np.repeat(several, counts), orders)
        counts = np.compress(several, counts)
        in_order, rank = self.order.of(tied & _PLACE)
        nearest = np.minimum.reduceat((tied & ~_PLACE) + rank, np.cumsum(counts) - counts)
        first[several] = (nearest & ~_PLACE) + in_order[nearest & _PLACE]
        return first

    def _stored(self, standing: pa.Table, hop: int) -> tuple[Doubles, Ints]:
        """What is stored of the standing. The order is right where the weakest is exactly this far, else unused."""
        low = _doubles(standing, f"low_{hop}")
        weakest = np.where(np.isinf(low), self.key[0], _ints(standing, f"at_{hop}"))
        return low, hop * _ONE_HOP + self.places.of(weakest)

    def _depth(self, there: Ints, stored: Ints) -> npt.NDArray[np.int8]:
        """The longest chain above: one longer than the longest above a parent."""
        depth, deep = np.zeros(len(self.key), np.int8), ~self.missing
        for steps in range(1, self.max_hops + 2):
            deep = self._below(deep)
            deep[there] = stored >= steps
            depth += deep
        return depth

    def _gap(self, there: Ints, stored: Ints) -> npt.NDArray[np.int8]:
        """Hops to the nearest version with an unresolved parent."""
        gap, near = np.full(len(self.key), self.max_hops, np.int8), self.missing
        for hops in range(self.max_hops):
            near = self._below(near | self.missing)
            near[there] = stored <= hops
            gap -= near
        return gap

    def _unresolved(self) -> Ints:
        """How many parents are unresolved."""
        return np.bincount(self.child[self.missing[self.parent]], minlength=len(self.key))

    def _below(self, nodes: Bools) -> Bools:
        """Those with a parent among the nodes."""
        below = np.zeros(len(self.key), np.bool_)
        if nodes.any():
            below[np.compress(nodes[self.parent], self.child)] = True
        return below


def _ascending(keys: Ints) -> Ints:
    """Where keys, which are distinct, are in ascending order."""
    first, span = keys.min(), int(np.ptp(keys)) + 1
    if span > 4 * len(keys):
        return np.argsort(keys)
    slots = np.full(span, -1)
    slots[keys - first] = np.arange(len(keys))
    return slots[slots >= 0]


def _together(children: Ints, nodes: int) -> bool:
    """Whether equal ones, of so many nodes, stand together."""
    starts, seen = _starts(children), np.zeros(nodes, np.bool_)
    seen[children[starts]] = True
    return len(starts) == np.count_nonzero(seen)


def _starts(children: Ints) -> Ints:
    """Where in an array of equal ones that stand together each one begins."""
    begins = np.ones(len(children), np.bool_)
    np.not_equal(children[1:], children[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def _slice(chosen: npt.NDArray[np.bool_]) -> slice | Ints:
    """Where it is true: a slice, which copies nothing, if that is all in a row."""
    places = np.flatnonzero(chosen)
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _ints(table: pa.Table, name: str) -> Ints:
    """A column, 0 where it is null."""
    values: Ints = table.column(name).cast(pa.int64()).fill_null(0).to_numpy()
    return values


def _doubles(table: pa.Table, name: str) -> Doubles:
    """A column, infinite where it is null."""
    values: Doubles = table.column(name).cast(pa.float64()).fill_null(np.inf).to_numpy()
    return values
