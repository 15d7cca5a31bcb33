"""The decisions that stand on a memory, scored again as if all its versions had been declared at another confidence."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb

from weaklink_analysis.mai.attribution import (
    ATTRIBUTION,
    Attribution,
    AttributionIntegrityResult,
    ReliedOn,
    evaluate_decision,
)
from weaklink_processor.commands.ancestry import Key, own_versions, walk, walking

_DECISIONS = """
    CREATE OR REPLACE TEMP TABLE standing AS
    WITH records AS (
        SELECT trace_id, span_id, start_time, agent_id, memory_key, record_keys, unnest(record_keys) AS version_key
        FROM lake.decisions
    )
    SELECT DISTINCT * EXCLUDE (version_key) FROM records SEMI JOIN reached USING (version_key)
"""
_TOLD = (
    "SELECT trace_id, span_id, agent_id, memory_key, record_keys FROM standing ORDER BY start_time, trace_id, span_id"
)
_FACTS = """
    WITH wanted AS (SELECT unnest(record_keys) AS version_key FROM standing UNION SELECT memory_key FROM standing)
    SELECT v.version_key, v.declared_confidence, v.effective_confidence, v.agent_id, v.session_id IS NOT NULL, v.hedged,
           v.chain_truncated, coalesce(w.hop <= $max_hops, false)
    FROM lake.memory_versions AS v
    SEMI JOIN wanted AS n ON v.version_key = n.version_key
    LEFT JOIN reached AS w ON v.version_key = w.version_key
"""
# A parent that is not known is below 0, and is there only if something stands in for its confidence.
_ABOVE = """
    WITH RECURSIVE edges AS MATERIALIZED (
        SELECT
            child_key,
            coalesce(parent_key, -parent_name_key) AS parent_key,
            coalesce(parent_confidence, $unresolved) AS parent_confidence
        FROM lake.derivations
        WHERE parent_key IS NOT NULL OR $unresolved IS NOT NULL
    ),
    walk(version_key, hop) USING KEY (version_key) AS (
        SELECT unnest($keys::BIGINT[]), 0
        UNION
        SELECT e.parent_key, min(w.hop) + 1
        FROM walk AS w
        INNER JOIN edges AS e ON w.version_key = e.child_key
        ANTI JOIN recurring.walk AS r ON e.parent_key = r.version_key
        WHERE w.hop + 1 < $max_hops
        GROUP BY e.parent_key
    )
    SELECT e.child_key, e.parent_key, e.parent_confidence
    FROM walk AS w
    INNER JOIN edges AS e ON w.version_key = e.child_key
"""


class Rescored(NamedTuple):
    """A decision, and what the assumption does to it. Scores are in [0, 1]."""

    trace_id: str
    span_id: str
    agent_id: str | None
    score_before: float
    score_after: float
    verdict_changes: bool
    score_effective_before: float
    score_effective_after: float
    verdict_effective_changes: bool


class _Fact(NamedTuple):
    """What a version says to a score."""

    declared: float
    effective: float
    author: str | None
    has_session: bool
    hedged: bool
    truncated: bool
    within_reach: bool
    """Whether the memory is at most max_hops derivations above it, so that it counts there."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """What every version of one memory is taken to have been declared at, and how scores are made."""

    environment: str
    store: str
    memory_id: str
    confidence: float
    max_hops: int
    threshold: float
    unresolved_confidence: float | None = None
    """What stands in for the confidence of a parent that is not known."""
    attribution: Attribution = ATTRIBUTION


def rescore(catalogue: duckdb.DuckDBPyConnection, assumption: Assumption) -> list[Rescored]:
    """Score every decision that relied on an affected version, as it is and under the assumption, oldest first."""
    own = own_versions(catalogue, Key(assumption.environment, assumption.store, assumption.memory_id, 0))
    walk(catalogue, own)
    catalogue.execute(_DECISIONS)
    facts = catalogue.execute(_FACTS, {"max_hops": assumption.max_hops}).fetchall()
    before = {key: _Fact(*fact) for key, *fact in facts}
    after = _assume(catalogue, before, own, assumption)
    rescored: list[Rescored] = []
    for *ids, memory, records in catalogue.execute(_TOLD).fetchall():
        old = _score(memory, records, before, assumption)
        same = all(key is None or before[key] == after[key] for key in (memory, *records))
        rescored.append(_compare(ids, old, old if same else _score(memory, records, after, assumption)))
    return rescored


def _assume(
    catalogue: duckdb.DuckDBPyConnection, before: Mapping[int, _Fact], own: Mapping[int, float], assumption: Assumption
) -> Mapping[int, _Fact]:
    """Return the facts under the assumption; what lies out of its reach stays as it is.

    Only where the memory itself may be what bounds a version now, and would bound it no longer, do the others above it
    have to be looked at.
    """
    assumed, lowest_own = assumption.confidence, min(own.values())
    changed = {key: fact for key, fact in before.items() if fact.within_reach}
    freed = {key: fact for key, fact in changed.items() if lowest_own <= fact.effective < assumed}
    lowest = {key: fact.effective for key, fact in changed.items()}
    lowest.update(_without(catalogue, freed, own, assumption))
    return {
        **before,
        **{
            key: fact._replace(declared=assumed if key in own else fact.declared, effective=min(lowest[key], assumed))
            for key, fact in changed.items()
        },
    }


def _without(
    catalogue: duckdb.DuckDBPyConnection, freed: Mapping[int, _Fact], own: Iterable[int], assumption: Assumption
) -> Mapping[int, float]:
    """Return the lowest confidence at or above each of these versions under the assumption."""
    if not freed:
        return {}
    values = {
        "keys": sorted(freed),
        "max_hops": assumption.max_hops,
        "unresolved": assumption.unresolved_confidence,
    }
    parents: dict[int, set[int]] = defaultdict(set)
    declared = {key: fact.declared for key, fact in freed.items()}
    with walking(catalogue):
        above = catalogue.execute(_ABOVE, values).fetchall()
    for child, parent, confidence in above:
        parents[child].add(parent)
        declared[parent] = confidence
    declared |= dict.fromkeys(own, assumption.confidence)
    lowest = _lowest_above(declared, parents, assumption.max_hops)
    return {key: lowest[key] for key in freed}


def _lowest_above(
    declared: Mapping[int, float], parents: Mapping[int, Collection[int]], hops: int
) -> Mapping[int, float]:
    """Return the lowest confidence of each version and its ancestors at most `hops` steps above.

    A step takes in the parents' lowest of the step before, so after n steps it holds what n derivations reach.
    """
    lowest = declared
    for _ in range(hops):
        lowest = {
            key: min([confidence, *(lowest[parent] for parent in parents.get(key, ()))])
            for key, confidence in declared.items()
        }
    return lowest


def _score(
    memory: int | None, records: Iterable[int | None], known: Mapping[int, _Fact], assumption: Assumption
) -> list[AttributionIntegrityResult]:
    """Return the verdict on declared and that on effective confidence."""
    relied_on = [
        _relied_on(None if key is None else known[key], assumption.attribution.assumed_confidence) for key in records
    ]
    decided = None if memory is None else known[memory]
    results = [
        evaluate_decision(
            relied_on,
            decided.effective if decided else None,
            truncated=bool(decided and decided.truncated),
            effective=effective,
            threshold=assumption.threshold,
            attribution=assumption.attribution,
        )
        for effective in (False, True)
    ]
    return [result for result in results if result]


def _relied_on(fact: _Fact | None, assumed: float) -> ReliedOn:
    if fact is None:
        return ReliedOn(assumed, assumed)
    return ReliedOn(fact.declared, fact.effective, fact.author, fact.has_session, fact.hedged)


def _compare(
    ids: Sequence[Any], old: Sequence[AttributionIntegrityResult], new: Sequence[AttributionIntegrityResult]
) -> Rescored:
    columns: list[Any] = []
    for before, after in zip(old, new, strict=True):
        columns += [before.score, after.score, before.passed != after.passed]
    return Rescored(*ids, *columns)
