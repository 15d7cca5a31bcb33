"""The way from a version to the ancestor that bounds its confidence."""

from collections.abc import Collection, Mapping
from itertools import groupby
from typing import Any

import duckdb

from weaklink_analysis.gate.texts import rows, text
from weaklink_analysis.gate.verdict import Hop

MOST_HOPS = 16
"""No weaklink looks further up."""


def ways(catalogue: duckdb.DuckDBPyConnection, starts: Collection[int]) -> Mapping[int, tuple[Hop, ...]]:
    """Find the shortest way up from each of these versions (keys of the lake) to what bounds it; itself, if nothing.

    A step is a join for all of them: a recursive query would have several threads wait for each other.
    """
    if not starts:
        return {}
    catalogue.execute(text("ways_begin"), {"keys": sorted(starts)})
    for hop in range(1, MOST_HOPS + 1):
        if not catalogue.execute(text("steps"), {"hop": hop}).fetchall()[0][0]:
            break
    met = rows(catalogue, "ways")
    return {start: _way(start, {row["version_key"]: row for row in own}) for start, own in groupby(met, _start)}


def _start(row: Mapping[str, Any]) -> int:
    return int(row["start"])


def _way(start: int, met: Mapping[int, Mapping[str, Any]]) -> tuple[Hop, ...]:
    """Go back down from the end; without one, which a change of settings may cause, only the start is told."""
    end = next((row for row in met.values() if row["ends"]), met[start])
    way = [end]
    while way[0]["via"] is not None:
        way.insert(0, met[way[0]["via"]])
    return tuple(
        Hop(
            row["memory_id"],
            row["version"],
            row["agent_id"],
            row["declared_confidence"],
            row["effective_confidence"],
            is_weakest=bool(row["ends"]),
        )
        for row in way
    )
