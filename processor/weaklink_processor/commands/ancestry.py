"""The ancestors of a memory version, read from the lake in bulk."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

import duckdb

_MEMORIES = """
    SELECT environment, store, memory_id, version, version_key
    FROM lake.memory_versions
    WHERE memory_id = $id
      AND ($environment IS NULL OR environment = $environment)
      AND ($store IS NULL OR store = $store)
    ORDER BY environment, store, version
"""
_OWN = """
    SELECT version_key, declared_confidence FROM lake.memory_versions
    WHERE memory_id = $id AND environment = $environment AND store = $store
"""
_NEAR = """
    SELECT memory_id
    FROM (SELECT DISTINCT memory_id FROM memory_versions)
    WHERE jaro_winkler_similarity(memory_id, $id) > 0.7
    ORDER BY jaro_winkler_similarity(memory_id, $id) DESC, memory_id
    LIMIT 5
"""
_REACHED = "CREATE OR REPLACE TEMP TABLE reached AS FROM lake.reached_from($keys::BIGINT[])"
_REACHED_BOUNDS = "SELECT min(version_key), max(version_key) FROM reached"
_ANCESTORS = "CREATE OR REPLACE TEMP TABLE ancestors AS FROM lake.ancestors_of([$key::BIGINT])"
_BOUNDS = "SELECT min(version_key), max(version_key) FROM ancestors"
_VERSIONS = """
    SELECT environment, store, memory_id, version, agent_id, declared_confidence, effective_confidence,
           confidence_flag, written_at, weakest_id
    FROM lake.memory_versions
    WHERE version_key BETWEEN $low AND $high AND version_key IN (SELECT version_key FROM ancestors)
"""
_PARENTS = """
    SELECT environment, store, child_id, child_version, coalesce(parent_store, store), parent_id, parent_version
    FROM lake.derivations
    WHERE child_key BETWEEN $low AND $high AND child_key IN (SELECT version_key FROM ancestors)
    ORDER BY parent_id, parent_version
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A version; `version` 0 is a parent that is not known here."""

    environment: str
    store: str
    memory_id: str
    version: int
    version_key: int = field(default=-1, compare=False)
    """What joins it to the tables of the lake, where it was looked up by its id."""


@dataclass(frozen=True, slots=True)
class Version:
    """What is told of a version."""

    agent_id: str | None
    declared_confidence: float | None
    effective_confidence: float | None
    confidence_flag: str | None
    written_at: datetime | None
    weakest_id: str | None


@dataclass(frozen=True, slots=True)
class Ancestry:
    """A version, and all that it was derived from, however far up. Cycles are as they are."""

    root: Key
    versions: dict[Key, Version] = field(default_factory=dict)
    parents: dict[Key, list[Key]] = field(default_factory=dict)


def find_memories(
    catalogue: duckdb.DuckDBPyConnection, memory_id: str, environment: str | None, store: str | None
) -> list[Key]:
    """Return the newest version of each memory of that id, in the environment and store where those are given."""
    values = {"id": memory_id, "environment": environment, "store": store}
    rows = catalogue.execute(_MEMORIES, values).fetchall()
    return list({row[:2]: Key(*row) for row in rows}.values())


def own_versions(catalogue: duckdb.DuckDBPyConnection, one: Key) -> dict[int, float]:
    """Return the keys of all versions of the memory of which this is one, and what each was declared at."""
    values = {"id": one.memory_id, "environment": one.environment, "store": one.store}
    return dict(catalogue.execute(_OWN, values).fetchall())


def walk(catalogue: duckdb.DuckDBPyConnection, own: Iterable[int]) -> tuple[int, int]:
    """Make `reached`: these versions and all that were derived from one. Returns the lowest and highest key in it."""
    with walking(catalogue):
        catalogue.execute(_REACHED, {"keys": sorted(own)})
    low, high = catalogue.execute(_REACHED_BOUNDS).fetchall()[0]
    return low, high


@contextmanager
def walking(catalogue: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """One thread for a recursive query: several now and then wait seconds for each other."""
    catalogue.execute("SET threads = 1")
    try:
        yield
    finally:
        catalogue.execute("RESET threads")


def near_ids(catalogue: duckdb.DuckDBPyConnection, memory_id: str) -> list[str]:
    """Return the most alike of the ids there are, nearest first."""
    return [row[0] for row in catalogue.execute(_NEAR, {"id": memory_id}).fetchall()]


def load_ancestry(catalogue: duckdb.DuckDBPyConnection, root: Key) -> Ancestry:
    """Read a version and its ancestors, each once, however deep they lie in two scans."""
    with walking(catalogue):
        catalogue.execute(_ANCESTORS, {"key": root.version_key})
    low, high = catalogue.execute(_BOUNDS).fetchall()[0]
    bounds = {"low": low, "high": high}  # by which whole row groups are left out
    rows = catalogue.execute(_VERSIONS, bounds).fetchall()
    ancestry = Ancestry(root, {Key(*row[:4]): Version(*row[4:]) for row in rows})
    ancestry.parents.update({key: [] for key in ancestry.versions})
    for row in catalogue.execute(_PARENTS, bounds).fetchall():
        ancestry.parents[Key(*row[:4])].append(Key(row[0], row[4], row[5], row[6] or 0))
    return ancestry
