"""Effective confidence: a memory is as sure as its weakest ancestor."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_harness import Analysis
from otlp import S, read, write
from weaklink_analysis.operations import Settings

STORY = [
    write(1, 1, "triage", 0.30, at=1, agent="triage"),
    write(1, 2, "diagnosis", 0.85, at=2, parents=["triage"], agent="diagnosis"),
    write(1, 3, "action", 0.95, at=3, parents=["diagnosis"], agent="action"),
]


def numbers(analysis: Analysis, *columns: str) -> Mapping[str, tuple[object, ...]]:
    """These columns of each memory's newest version."""
    return {memory: tuple(row[column] for column in columns) for memory, row in analysis.memories().items()}


def test_the_seeds_story_ends_at_the_guess(analysis: Analysis) -> None:
    """A guess at 0.30 bounds what derives from it, however sure that declares itself to be."""
    analysis.feed(STORY)
    assert numbers(analysis, "effective_confidence", "confidence_flag", "chain_depth", "weakest_id") == {
        "triage": (0.30, "FILTER", 0, "triage"),
        "diagnosis": (0.30, "FILTER", 1, "triage"),
        "action": (0.30, "FILTER", 2, "triage"),
    }


def test_a_late_parent_reaches_all_that_stood_on_it(analysis: Analysis) -> None:
    """While a parent is unknown it bounds nothing and is counted; when it arrives, every descendant is bound."""
    analysis.feed(STORY[1:])
    assert numbers(analysis, "effective_confidence", "unresolved_parents", "chain_complete") == {
        "diagnosis": (0.85, 1, False),
        "action": (0.85, 0, False),
    }
    analysis.feed(STORY[:1])
    assert numbers(analysis, "effective_confidence", "unresolved_parents", "chain_complete") == {
        "triage": (0.30, 0, True),
        "diagnosis": (0.30, 0, True),
        "action": (0.30, 0, True),
    }


def test_a_late_root_makes_the_longest_chain_truncated(analysis: Analysis) -> None:
    """The length of a chain counts one derivation more than confidences reach: it too follows a parent that is late."""
    chain = [write(1, n + 1, f"m{n}", 0.9, at=n, parents=[f"m{n - 1}"] if n else []) for n in range(8)]
    analysis.feed(chain[1:])
    assert numbers(analysis, "chain_depth", "chain_truncated")["m6"] == (5, False)
    analysis.feed(chain[:1])
    assert numbers(analysis, "chain_depth", "chain_truncated")["m6"] == (6, True)


def test_an_ancestor_beyond_the_hops_bounds_nothing(analysis: Analysis) -> None:
    """Ancestors count up to max_hops derivations above; what is longer is truncated, and says so."""
    chain = [
        write(1, n + 1, f"m{n}", 0.1 if n == 0 else 0.9, at=n, parents=[f"m{n - 1}"] if n else []) for n in range(8)
    ]
    analysis.feed(chain)
    got = numbers(analysis, "effective_confidence", "chain_depth", "chain_truncated")
    assert got["m5"] == (0.1, 5, False)
    assert got["m6"] == (0.9, 6, True)
    assert got["m7"] == (0.9, 6, True)


def test_a_cycle_is_data(analysis: Analysis) -> None:
    """Two memories that name each other at one moment bound each other; neither is its own ancestor."""
    analysis.feed([write(1, 1, "x", 0.3, at=1, parents=["y"]), write(1, 2, "y", 0.5, at=1, parents=["x", "z"])])
    assert numbers(analysis, "effective_confidence", "chain_depth", "weakest_id", "chain_min_confidence") == {
        "x": (0.3, 6, "x", 0.5),
        "y": (0.3, 6, "x", 0.3),
    }


def test_a_version_is_never_its_own_ancestor(analysis: Analysis) -> None:
    """On a cycle its own confidence hides no change above it, though it is the lowest."""
    analysis.feed([write(1, 1, "x", 0.3, at=1, parents=["y"]), write(1, 2, "y", 0.5, at=1, parents=["x", "z"])])
    analysis.feed([write(1, 3, "z", 0.4, at=0)])
    assert numbers(analysis, "chain_min_confidence")["x"] == (0.4,)
    assert {row["memory_id"] for row in analysis.engine.changes("memory_versions").to_pylist()} == {"x", "y", "z"}


def test_a_memory_derived_from_its_own_past(analysis: Analysis) -> None:
    """A memory that names itself derives from its earlier version; without one the parent is unresolved."""
    analysis.feed([write(1, 1, "m", 0.2, at=1, parents=["m"]), write(1, 2, "m", 0.9, at=2, parents=["m"])])
    versions = {row["version"]: row for row in analysis.table("memory_versions")}
    assert (versions[1]["unresolved_parents"], versions[1]["effective_confidence"]) == (1, 0.2)
    assert (versions[2]["unresolved_parents"], versions[2]["effective_confidence"]) == (0, 0.2)


def test_a_number_may_stand_in_for_an_unknown_parent() -> None:
    """Until it arrives, an unknown parent bounds all that stands on it as if it had declared what is configured."""
    with Analysis(Settings(unresolved_confidence=0.5)) as analysis:
        analysis.feed(STORY[1:])
        assert numbers(analysis, "effective_confidence", "weakest_id", "chain_depth") == {
            "diagnosis": (0.5, "triage", 0),
            "action": (0.5, "triage", 1),
        }
        analysis.feed([write(1, 1, "triage", 0.9, at=1)])
        assert numbers(analysis, "effective_confidence", "weakest_id", "chain_depth") == {
            "triage": (0.9, "triage", 0),
            "diagnosis": (0.85, "diagnosis", 1),
            "action": (0.85, "diagnosis", 2),
        }


def test_other_settings_make_other_numbers() -> None:
    """max_hops and the thresholds are settings; resettling brings stored numbers in line with them."""
    with Analysis(Settings(max_hops=1, min_threshold=0.2, flag_threshold=0.9)) as analysis:
        analysis.feed(STORY)
        assert numbers(analysis, "effective_confidence", "confidence_flag", "chain_truncated") == {
            "triage": (0.30, "FLAG", False),
            "diagnosis": (0.30, "FLAG", False),
            "action": (0.85, "FLAG", True),
        }
        again = Analysis(Settings(), database=analysis.database)
        again.engine.resettle()
        assert numbers(again, "effective_confidence", "confidence_flag", "chain_truncated") == {
            "triage": (0.30, "FILTER", False),
            "diagnosis": (0.30, "FILTER", False),
            "action": (0.30, "FILTER", False),
        }


def bounded(declared: list[float], parents: list[list[int]], child: int, hops: int) -> float:
    """The lowest confidence at or above `child`, at most so many derivations up: by walking."""
    level, lowest = {child}, declared[child]
    for _ in range(hops):
        level = {parent for version in level for parent in parents[version]}
        lowest = min([lowest, *(declared[version] for version in level)])
    return lowest


CROWD = 5
"""Cases that share a database, apart from each other: feeding it costs the same for one as for many."""

T = TypeVar("T")


def crowd_of(cases: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(cases, min_size=CROWD, max_size=CROWD)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[float], list[list[int]], list[list[int]]]:
    """Confidences, parents (earlier memories) and a partition of the memories into batches in any order."""
    size = draw(st.integers(2, 14))
    declared = [draw(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])) for _ in range(size)]
    parents = [draw(st.lists(st.integers(0, n - 1), unique=True, max_size=3)) if n else [] for n in range(size)]
    order = draw(st.permutations(range(size)))
    cuts = sorted(draw(st.sets(st.integers(1, size - 1), max_size=4)))
    return declared, parents, [order[a:b] for a, b in zip([0, *cuts], [*cuts, size], strict=True)]


@given(crowd_of(graphs()))
@settings(max_examples=20 // CROWD)
def test_hop_vectors_equal_the_walk(crowd: list[tuple[list[float], list[list[int]], list[list[int]]]]) -> None:
    """For any derivations, in any order and batching, the kept vectors say what a walk over ancestors says."""
    expected: dict[str, tuple[object, ...]] = {}
    steps: list[list[S]] = [[] for _ in range(max(len(batches) for *_, batches in crowd))]
    for trace, (declared, parents, batches) in enumerate(crowd, 1):
        names = [f"{trace} m{n}" for n in range(len(declared))]
        expected |= {name: (bounded(declared, parents, n, hops=5),) for n, name in enumerate(names)}
        for step, batch in zip(steps, batches, strict=False):
            step += [
                write(trace, n + 1, names[n], declared[n], n, parents=[names[p] for p in parents[n]]) for n in batch
            ]
    with Analysis() as analysis:
        for step in steps:
            analysis.feed(step)
        assert numbers(analysis, "effective_confidence") == expected


def test_another_clock_skew_resolves_stored_reads_anew() -> None:
    """A read before the write means it or not as the clock skew of today says, not that of the day it arrived."""
    with Analysis() as analysis:
        analysis.feed([read(1, 1, "m", None, at=1), write(1, 2, "m", 0.8, at=5)])
        again = Analysis(Settings(clock_skew_seconds=1), database=analysis.database)
        again.engine.resettle()
        assert [row["resolved_version"] for row in again.table("memory_operations")] == [None, 1]


TABLES = ("memory_operations", "memory_versions", "derivations", "evaluations")


@st.composite
def histories(draw: st.DrawFn) -> list[S]:
    """Writes and reads of a few memories in a few traces, with rewritten memories and shared span ids."""
    memory, moment = st.sampled_from("abcd"), st.integers(0, 9)
    spans = []
    for number in range(draw(st.integers(2, 12))):
        make = write if draw(st.booleans()) else read
        span = draw(st.sampled_from([number + 1, max(number, 1)]))
        confidence = draw(st.sampled_from([None, 0.2, 0.5, 0.9, 1.7, "high", "0.4"]))
        parents = draw(st.lists(memory, max_size=2))
        spans.append(make(draw(st.integers(1, 2)), span, draw(memory), confidence, draw(moment), parents=parents))
    return spans


@given(crowd_of(histories()), st.sampled_from([None, 0.3]), st.randoms(use_true_random=False))
@settings(max_examples=20 // CROWD)
def test_tables_depend_on_the_set_of_spans_only(
    crowd: list[list[S]], unknown: float | None, rng: random.Random
) -> None:
    """Shuffled, split and doubled, the same spans make the same tables; computed anew, they are the same again."""
    apart = [[replace(s, trace=s.trace + 2 * n, environment=f"{n}") for s in each] for n, each in enumerate(crowd)]
    spans = [s for each in apart for s in each]
    shuffled = rng.sample(spans, len(spans)) + [rng.choice(each) for each in apart]
    chosen = Settings(unresolved_confidence=unknown)
    with Analysis(chosen) as straight, Analysis(chosen) as other:
        straight.feed(spans)
        straight.evaluate()
        while shuffled:
            size = rng.randint(1, len(shuffled))
            other.feed(shuffled[:size])
            shuffled = shuffled[size:]
            if rng.random() < 0.5:
                other.evaluate()
        other.evaluate()
        straight.engine.resettle()
        for table in TABLES:
            assert other.table(table) == straight.table(table), table
