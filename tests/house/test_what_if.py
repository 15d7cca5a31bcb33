"""The decisions that stand on a memory, scored again: against the oracle."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pytest

import oracle
from analysis.test_oracle import content
from engine_harness import Analysis
from history import POISONED, history
from memory_lake import memory_lake
from otlp import S, payload
from scenarios import crowd
from shell import printed, refused
from standing import affected, standing
from weaklink_analysis.mai.attribution import ATTRIBUTION, Attribution
from weaklink_analysis.operations import Settings
from weaklink_processor.commands.what_if import Assumption, Rescored, rescore
from weaklink_processor.queue import framing

MEMORY = ("", "", POISONED)

STORED = "SELECT trace_id, span_id, score, score_effective FROM lake.evaluations WHERE scope = 'decision'"
MEMORIES = "SELECT DISTINCT environment, store, memory_id FROM lake.memory_versions"
RELYING = "SELECT trace_id, span_id FROM lake.decisions WHERE list_count(record_keys) > 0"

Scores = dict[tuple[object, object], tuple[float, bool, float, bool]]
"""Trace and span of a decision -> score, verdict, score_effective, verdict."""


def relying(world: oracle.Oracle, memory: oracle.Memory) -> list[oracle.Decision]:
    """The decisions that relied on a version of a memory, or on one that was derived from it."""
    hit = affected(world, memory)
    return [d for d in world.decisions if any(version in hit for _, version in d.relied)]


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


def asked(
    database: duckdb.DuckDBPyConnection, memory: oracle.Memory, confidence: float, unknown: float | None = None
) -> set[tuple[object, ...]]:
    assumption = Assumption(*memory, confidence, max_hops=5, threshold=0.7, unresolved_confidence=unknown)
    return {without_agent(row) for row in rescore(database, assumption)}


def without_agent(row: Rescored) -> tuple[object, ...]:
    return (row.trace_id, row.span_id, *row[3:])


@pytest.mark.parametrize(("seeds", "unknown"), [(range(40), None), (range(40, 60), 0.2), (range(60, 80), 0.6)], ids=str)
def test_it_scores_as_if_it_had_been_so(seeds: range, unknown: float | None) -> None:
    """Of every memory of the scenarios, cycles, stores and environments included: as the oracle with other versions."""
    spans = crowd(seeds)
    world = oracle.Oracle(spans, oracle.Rules(unresolved_confidence=unknown), content)
    with Analysis(Settings(unresolved_confidence=unknown)) as analysis:
        analysis.feed(spans)
        analysis.evaluate()
        database = memory_lake(analysis)
    for memory, versions in world.versions.items():
        confidence = random.Random(repr(memory)).choice((0.0, 0.1, 0.55, 1.0))
        decisions = relying(world, memory)
        before, declared = scores(world, decisions), [v.declared for v in versions]
        for version in versions:
            version.declared = confidence
        world.chains.clear()
        after = scores(world, decisions)
        for version, value in zip(versions, declared, strict=True):
            version.declared = value
        world.chains.clear()
        assert asked(database, memory, confidence, unknown) == expected(before, after), memory


@pytest.mark.parametrize("attribution", [ATTRIBUTION, Attribution("own/1", low=0.5, low_unhedged=0.4, weak_chain=0.1)])
@pytest.mark.parametrize("unknown", [None, 0.2])
def test_before_is_what_was_stored(unknown: float | None, attribution: Attribution) -> None:
    """Whatever is assumed, the scores before are those of `evaluations`; and every decision with a version is asked."""
    with Analysis(Settings(unresolved_confidence=unknown, attribution=attribution)) as analysis:
        analysis.feed(crowd(range(20)))
        analysis.evaluate()
        database = memory_lake(analysis)
    stored = {tuple(row[:2]): row[2:] for row in database.execute(STORED).fetchall()}
    met = set()
    for environment, store, memory_id in database.execute(MEMORIES).fetchall():
        one = Assumption(environment, store, memory_id, 0.1, 5, 0.7, unknown, attribution)
        for row in rescore(database, one):
            met.add((row.trace_id, row.span_id))
            assert (row.score_before, row.score_effective_before) == stored[row.trace_id, row.span_id]
    assert met == set(database.execute(RELYING).fetchall())


def told_twice() -> tuple[list[S], set[tuple[object, ...]]]:
    """The poisoned history, and its decisions as they are and as the oracle has them if the memory's writes say 0.1."""
    spans = history()
    world, other = (oracle.Oracle(told, oracle.Rules(), content) for told in (spans, history(poisoned_at=0.1)))
    before = scores(world, relying(world, MEMORY))
    rescored = expected(before, scores(other, relying(other, MEMORY)))
    assert len(rescored) > 100
    assert any(row[-1] for row in rescored)
    return spans, rescored


def test_a_poisoned_memory_in_a_thousand_traces() -> None:
    """The decisions and scores are those of a history in which the memory's writes really say 0.1."""
    spans, rescored = told_twice()
    with Analysis() as analysis:
        analysis.feed(spans)
        analysis.evaluate()
        database = memory_lake(analysis)
    assert asked(database, MEMORY, 0.1) == rescored


def test_the_command_names_what_brute_force_names(tmp_path: Path) -> None:
    """After a replay: exactly the versions, reads and decisions, with their hops; and the decisions scored again."""
    spans, rescored = told_twice()
    (tmp_path / "history.binpb").write_bytes(framing.join([payload(spans)]))
    printed("replay", tmp_path / "history.binpb", "--data-dir", tmp_path / "data")
    ask = ("impact", POISONED, "--data-dir", tmp_path / "data", "--format", "json")
    reached = {(row["kind"], row["id"], row["hop"], row["trace_id"]) for row in json.loads(printed(*ask))}
    assert reached == standing(oracle.Oracle(spans, oracle.Rules(), content), MEMORY)
    rows = [Rescored(**row) for row in json.loads(printed(*ask, "--what-if", "0.1"))]
    assert {without_agent(row) for row in rows} == rescored


@pytest.mark.parametrize("value", ["1.01", "-0.1", "nan", "inf", "high", ""])
def test_an_assumption_is_a_confidence(value: str, tmp_path: Path) -> None:
    """What is no number from 0 to 1 is refused, by the option's name and the value."""
    message = refused("impact", POISONED, "--data-dir", tmp_path, "--what-if", value)
    assert f"'--what-if': {value!r}" in message
