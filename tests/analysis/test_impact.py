"""chain_of and impact_of against a walk over the graph."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeVar

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from analysis.test_oracle import content
from engine_harness import Analysis
from memory_lake import memory_lake
from otlp import read, write
from scenarios import crowd
from standing import standing

T = TypeVar("T")
ANY = "environment := $environment, store := $store"


def hops(start: Collection[T], after: Callable[[T], Collection[T]]) -> dict[T, int]:
    """How few steps lead to each node that can be reached."""
    found, level = dict.fromkeys(start, 0), set(start)
    while level := {other for node in level for other in after(node)} - found.keys():
        found |= dict.fromkeys(level, max(found.values()) + 1)
    return found


def ask(
    database: duckdb.DuckDBPyConnection, columns: str, macro: str, memory: oracle.Memory
) -> list[tuple[object, ...]]:
    environment, store, memory_id = memory
    values = {"environment": environment, "store": store, "id": memory_id}
    return sorted(database.execute(f"SELECT {columns} FROM {macro}($id, {ANY})", values).fetchall())


def expected_chain(newest: oracle.Version) -> list[tuple[object, ...]]:
    walked = hops([newest], lambda version: version.parents)
    return sorted((hop, v.memory[2], v.number, v.declared, v.agent or "") for v, hop in walked.items())


@pytest.mark.parametrize("seeds", [range(30), range(30, 60)], ids=str)
def test_they_name_what_walking_names(seeds: range) -> None:
    """For every memory of the generated scenarios, with their cycles, stores, environments and late parents."""
    spans = crowd(seeds)
    world = oracle.Oracle(spans, oracle.Rules(), content)
    with Analysis() as analysis:
        analysis.feed(spans)
        analysis.evaluate()
        database = memory_lake(analysis)
        for memory, versions in world.versions.items():
            reached = ask(database, "kind, id, hop, trace_id", "impact_of", memory)
            assert reached == sorted(standing(world, memory)), memory
            chain = "hop, memory_id, version, declared_confidence, coalesce(agent_id, '')"
            assert ask(database, chain, "chain_of", memory) == expected_chain(versions[-1]), memory


Node = tuple[str, str, str, int]
"""Environment, store, memory id, version."""


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], set[tuple[int, int]]]:
    """Versions in several stores and environments, and any derivations among them: (child, parent), by place."""
    memory = st.tuples(st.sampled_from(["", "prod"]), st.sampled_from(["", "st"]), st.sampled_from("abc"))
    sizes = draw(st.dictionaries(memory, st.integers(1, 3), min_size=1, max_size=6))
    nodes = [(*key, version) for key, size in sizes.items() for version in range(1, size + 1)]
    place = st.integers(0, len(nodes) - 1)
    return nodes, draw(st.sets(st.tuples(place, place), max_size=20))


@pytest.fixture(scope="module")
def easel() -> duckdb.DuckDBPyConnection:
    """An empty lake, for `draw_lake`."""
    with Analysis() as nothing:
        return memory_lake(nothing)


def draw_lake(database: duckdb.DuckDBPyConnection, nodes: list[Node], edges: set[tuple[int, int]]) -> None:
    """Make it the lake of such a graph, each version read once in a trace of its own."""
    for table in ("memory_versions", "memory_operations", "derivations"):
        database.execute(f"TRUNCATE lake.{table}")
    for key, (environment, store, memory_id, version) in enumerate(nodes):
        database.execute(
            "INSERT INTO lake.memory_versions BY NAME "
            "SELECT $k AS version_key, $e AS environment, $s AS store, $m AS memory_id, $v AS version, 't' AS trace_id",
            {"k": key, "e": environment, "s": store, "m": memory_id, "v": version},
        )
        database.execute(
            "INSERT INTO lake.memory_operations BY NAME "
            "SELECT 'read' AS operation, $k AS version_key, 'r' || $k AS trace_id, 's' AS span_id",
            {"k": key},
        )
    for child, parent in edges:
        database.execute(
            "INSERT INTO lake.derivations BY NAME SELECT $c AS child_key, $p AS parent_key", {"c": child, "p": parent}
        )


@given(graphs())
@settings(max_examples=40)
def test_any_graph_is_walked(easel: duckdb.DuckDBPyConnection, graph: tuple[list[Node], set[tuple[int, int]]]) -> None:
    """Each version once, at its fewest hops, whatever cycles there are; each read with its version's hops."""
    nodes, edges = graph
    draw_lake(easel, nodes, edges)
    for memory in {node[:3] for node in nodes}:
        own = [n for n, node in enumerate(nodes) if node[:3] == memory]
        down = hops(own, lambda at: [child for child, parent in edges if parent == at])
        versions = [("version", f"{nodes[n][2]}@{nodes[n][3]}", hop, "t") for n, hop in down.items()]
        reads = [("read", "s", hop, f"r{n}") for n, hop in down.items()]
        assert ask(easel, "kind, id, hop, trace_id", "impact_of", memory) == sorted(versions + reads)
        up = hops(own[-1:], lambda at: [parent for child, parent in edges if child == at])
        assert ask(easel, "hop, memory_id, version", "chain_of", memory) == sorted(
            (hop, *nodes[n][2:]) for n, hop in up.items()
        )


@pytest.mark.parametrize("macro", ["chain_of", "impact_of"])
def test_an_id_of_several_memories_is_an_error(macro: str) -> None:
    """It lists them with what to add; what it lists works, and an unknown id has no rows."""
    with Analysis() as analysis:
        analysis.feed([write(1, 1, "twin", 0.5), replace(write(2, 2, "twin", 0.6), environment="bob's")])
        database = memory_lake(analysis)
    choices = r"twin means 2 memories; pick one: environment := '', store := ''; environment := 'bob''s', store := ''"
    with pytest.raises(duckdb.InvalidInputException, match=choices):
        database.execute(f"SELECT count(*) FROM {macro}('twin')")
    assert len(database.execute(f"FROM {macro}('twin', environment := 'bob''s', store := '')").fetchall()) == 1
    assert len(database.execute(f"FROM {macro}('twin', environment := '')").fetchall()) == 1
    for unknown in ("''", "'no'", "NULL", "'twin', store := 'st'"):
        assert database.execute(f"FROM {macro}({unknown})").fetchall() == []


def test_the_seeds_story(analysis: Analysis) -> None:
    """All that the guess reached: two versions, and the reads on the way, each as far as what it returned."""
    analysis.feed(
        [
            write(1, 1, "triage", 0.30, at=1, agent="t"),
            read(1, 2, "triage", 0.30, at=2),
            write(1, 3, "diagnosis", 0.85, at=3, parents=["triage"], agent="d"),
            read(1, 4, "diagnosis", 0.85, at=4),
            write(1, 5, "action", 0.95, at=5, parents=["diagnosis"], agent="a"),
        ]
    )
    database = memory_lake(analysis)
    assert database.execute("SELECT kind, id, hop FROM impact_of('triage')").fetchall() == [
        ("version", "triage@1", 0),
        ("version", "diagnosis@1", 1),
        ("version", "action@1", 2),
        ("read", f"{2:016x}", 0),
        ("read", f"{4:016x}", 1),
    ]
    assert database.execute("SELECT hop, memory_id, version, agent_id FROM chain_of('action')").fetchall() == [
        (0, "action", 1, "a"),
        (1, "diagnosis", 1, "d"),
        (2, "triage", 1, "t"),
    ]
