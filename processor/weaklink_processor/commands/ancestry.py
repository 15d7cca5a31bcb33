"""The ancestors of a memory version, read from the views level by level."""

from dataclasses import dataclass, field
from datetime import datetime

import duckdb

_MEMORIES = """
    SELECT environment, store, memory_id, max(version)
    FROM memory_versions
    WHERE memory_id = $id
      AND ($environment IS NULL OR environment = $environment)
      AND ($store IS NULL OR store = $store)
    GROUP BY ALL
    ORDER BY ALL
"""
_NEAR = """
    SELECT memory_id
    FROM (SELECT DISTINCT memory_id FROM memory_versions)
    WHERE jaro_winkler_similarity(memory_id, $id) > 0.7
    ORDER BY jaro_winkler_similarity(memory_id, $id) DESC, memory_id
    LIMIT 5
"""
_WANTED = """
    WITH wanted AS (
        SELECT unnest($environments::VARCHAR[]) AS environment, unnest($stores::VARCHAR[]) AS store,
               unnest($ids::VARCHAR[]) AS memory_id, unnest($versions::BIGINT[]) AS version
    )
"""
_VERSIONS = f"""{_WANTED}
    SELECT v.environment, v.store, v.memory_id, v.version, v.agent_id, v.declared_confidence, v.effective_confidence,
           v.confidence_flag, v.written_at, v.weakest_id
    FROM memory_versions v JOIN wanted USING (environment, store, memory_id, version)
"""  # noqa: S608  made of constants
_PARENTS = f"""{_WANTED}
    SELECT d.environment, d.store, d.child_id, d.child_version,
           coalesce(d.parent_store, d.store), d.parent_id, d.parent_version
    FROM derivations d
    JOIN wanted w ON (d.environment, d.store, d.child_id, d.child_version)
                   = (w.environment, w.store, w.memory_id, w.version)
    ORDER BY d.parent_id, d.parent_version
"""  # noqa: S608  made of constants


@dataclass(frozen=True, slots=True)
class Key:
    """A version; `version` 0 is a parent that is not known here."""

    environment: str
    store: str
    memory_id: str
    version: int


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
    return [Key(*row) for row in catalogue.execute(_MEMORIES, values).fetchall()]


def near_ids(catalogue: duckdb.DuckDBPyConnection, memory_id: str) -> list[str]:
    """Return the most alike of the ids there are, nearest first."""
    return [row[0] for row in catalogue.execute(_NEAR, {"id": memory_id}).fetchall()]


def load_ancestry(catalogue: duckdb.DuckDBPyConnection, root: Key) -> Ancestry:
    """Read a version and its ancestors: two queries a level, each version once."""
    ancestry = Ancestry(root)
    level = {root}
    while level:
        wanted = _columns(level)
        for row in catalogue.execute(_VERSIONS, wanted).fetchall():
            ancestry.versions[Key(*row[:4])] = Version(*row[4:])
        ancestry.parents.update({key: [] for key in level})
        for row in catalogue.execute(_PARENTS, wanted).fetchall():
            ancestry.parents[Key(*row[:4])].append(Key(row[0], row[4], row[5], row[6] or 0))
        found = {parent for key in level for parent in ancestry.parents[key]}
        level = {key for key in found if key.version and key not in ancestry.parents}
    return ancestry


def _columns(keys: set[Key]) -> dict[str, list[str] | list[int]]:
    ordered = sorted(keys, key=lambda key: (key.environment, key.store, key.memory_id, key.version))
    return {
        "environments": [key.environment for key in ordered],
        "stores": [key.store for key in ordered],
        "ids": [key.memory_id for key in ordered],
        "versions": [key.version for key in ordered],
    }
