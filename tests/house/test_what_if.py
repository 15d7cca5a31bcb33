"""The decisions that stand on a memory, scored again: against the oracle."""

import random
from collections.abc import Iterable

import duckdb
import pytest

import oracle
from analysis.test_oracle import content
from engine_harness import Analysis
from history import POISONED, history
from memory_lake import memory_lake
from scenarios import crowd
from weaklink_processor.commands.what_if import Assumption, Rescored, rescore

Scores = dict[tuple[object, object], tuple[float, bool, float, bool]]
"""Trace and span of a decision -> score, verdict, score_effective, verdict."""


def affected(world: oracle.Oracle, memory: oracle.Memory) -> set[oracle.Version]:
    """All versions of a memory, and all that were derived from one."""
    found: set[oracle.Version] = set()
    level = set(world.versions[memory])
    while level := level - found:
        found |= level
        level = {v for v in world.all_versions if v.parents & level}
    return found


def scores(world: oracle.Oracle, decisions: Iterable[oracle.Decision]) -> Scores:
    found: Scores = {}
    for d in decisions:
        declared, effective = (oracle.attribution(world, d, effective=e)[0] for e in (False, True))
        bound = world.rules.pass_threshold
        verdicts = (round(declared, 4), declared >= bound, round(effective, 4), effective >= bound)
        found[tuple(d.spot.ids.values())] = verdicts  # type: ignore[index]
    return found


def expected(before: Scores, after: Scores) -> set[tuple[object, ...]]:
    return {
        (*ids, old[0], after[ids][0], old[1] != after[ids][1], old[2], after[ids][2], old[3] != after[ids][3])
        for ids, old in before.items()
    }


def asked(database: duckdb.DuckDBPyConnection, memory: oracle.Memory, confidence: float) -> set[tuple[object, ...]]:
    rescored = rescore(database, Assumption(*memory, confidence, max_hops=5, threshold=0.7))
    return {without_agent(row) for row in rescored}


def without_agent(row: Rescored) -> tuple[object, ...]:
    return (row.trace_id, row.span_id, *row[3:])


@pytest.mark.parametrize("seeds", [range(40), range(40, 80)], ids=str)
def test_it_scores_as_if_it_had_been_so(seeds: range) -> None:
    """Of every memory of the scenarios, cycles, stores and environments included: as the oracle with other versions."""
    spans = crowd(seeds)
    world = oracle.Oracle(spans, oracle.Rules(), content)
    with Analysis() as analysis:
        analysis.feed(spans)
        database = memory_lake(analysis, world)
    for memory, versions in world.versions.items():
        confidence = random.Random(repr(memory)).choice((0.0, 0.1, 0.55, 1.0))
        hit = affected(world, memory)
        relying = [d for d in world.decisions if any(v in hit for _, v in d.relied)]
        before, declared = scores(world, relying), [v.declared for v in versions]
        for version in versions:
            version.declared = confidence
        world.chains.clear()
        after = scores(world, relying)
        for version, value in zip(versions, declared, strict=True):
            version.declared = value
        world.chains.clear()
        assert asked(database, memory, confidence) == expected(before, after), memory


def test_a_poisoned_memory_in_a_thousand_traces() -> None:
    """The decisions and scores are those of a history in which the memory's writes really say 0.1."""
    spans, other = history(), history(poisoned_at=0.1)
    world, assumed = (oracle.Oracle(told, oracle.Rules(), content) for told in (spans, other))
    memory = ("", "", POISONED)
    hit = affected(world, memory)
    relying = [d for d in world.decisions if any(v in hit for _, v in d.relied)]
    ids = {tuple(d.spot.ids.values()) for d in relying}
    with Analysis() as analysis:
        analysis.feed(spans)
        found = asked(memory_lake(analysis, world), memory, 0.1)
    after = scores(assumed, [d for d in assumed.decisions if tuple(d.spot.ids.values()) in ids])
    assert found == expected(scores(world, relying), after)
    assert len(found) > 100
    assert any(row[-1] for row in found)
