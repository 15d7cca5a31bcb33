"""The engine's tables against brute force, over generated scenarios.

WEAKLINK_SCENARIOS: how many seeds are tried. WEAKLINK_SCENARIO: one seed, alone.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings

import oracle
from engine_harness import Analysis
from otlp import S, payload
from scenarios import crowd, scenarios
from weaklink_analysis.identity import fingerprint
from weaklink_analysis.operations import Settings
from weaklink_analysis.spans import SPAN_SCHEMA
from weaklink_processor.decode.batch import decode

VIEWED = ("memories", "confidence_gating", "decisions", "evaluations", "evaluation_checks", "findings")
"""Tables that are views of the engine's own."""

ARRIVAL = ("revision", "evaluated_at")
"""What depends on the order of arrival."""

JSON_COLUMNS = {("findings", "detail"), ("confidence_gating", "records")}

RULES = (
    oracle.Rules(),
    oracle.Rules(max_hops=2, min_threshold=0.3, flag_threshold=0.9, assumed_confidence=0.7, clock_skew_seconds=3.0),
    oracle.Rules(
        namespaces={"/ops/": (0.2, None), "/ops/db": (None, 0.7), "/op": (0.0, 0.1)},
        services={"svc": (0.1, 0.45), "other": (None, 0.9)},
    ),
)

COUNT, ALONE = int(os.environ.get("WEAKLINK_SCENARIOS", "300")), os.environ.get("WEAKLINK_SCENARIO")
SEEDS = [int(ALONE)] if ALONE else range(COUNT)
CROWD = 50
"""Scenarios a database: making one costs more than analysing a scenario."""

SHRINKING_SECONDS = 60


def content(s: S) -> str:
    """SHA-256 of a span's stored content, which only matters where copies end at one moment."""
    return fingerprint(decode([payload([s])]).spans.select(SPAN_SCHEMA.names).to_pylist()[0])


def engine_rows(analysis: Analysis, table: str) -> list[dict[str, object]]:
    """A table's rows without what depends on the order of arrival."""
    rows = analysis.view(table) if table in VIEWED else analysis.table(table)
    return [{column: value for column, value in row.items() if column not in ARRIVAL} for row in rows]


def comparable(table: str, rows: Sequence[Mapping[str, object]]) -> Counter[str]:
    """Rows as text, moments in UTC and JSON parsed."""

    def plain(column: str, value: object) -> object:
        if isinstance(value, datetime):
            return value.astimezone(UTC).isoformat()
        return json.loads(value) if isinstance(value, str) and (table, column) in JSON_COLUMNS else value

    return Counter(json.dumps({c: plain(c, value) for c, value in row.items()}, sort_keys=True) for row in rows)


def arrive(analysis: Analysis, spans: Sequence[S], seed: int) -> None:
    """Feed spans in some order, in batches of any size, some of them twice; judge and restart now and then."""
    rng, waiting = random.Random(seed), list(spans)
    rng.shuffle(waiting)
    while waiting:
        size = rng.choice((1, 2, 5, 20, 100, 1000))
        batch, waiting = waiting[:size], waiting[size:]
        analysis.feed(batch)
        if rng.random() < 0.2:
            analysis.feed(rng.sample(batch, len(batch)))
        if rng.random() < 0.4:
            analysis.evaluate()
        if rng.random() < 0.1:
            analysis.restart()


def differences(spans: Sequence[S], rules: oracle.Rules, seed: int | None = None) -> list[str]:
    """What is said differently of these spans: `-` a row of the oracle's, `+` one of the engine's.

    They come at once, or with a seed in some order, in batches.
    """
    known = {key: value for key, value in asdict(rules).items() if key in Settings.__dataclass_fields__}
    with Analysis(Settings(**known)) as analysis:
        if seed is None:
            analysis.feed(spans)
        else:
            arrive(analysis, spans, seed)
        analysis.evaluate()
        found = []
        for table, rows in oracle.tables(spans, rules, content).items():
            expected, got = comparable(table, rows), comparable(table, engine_rows(analysis, table))
            found += [f"- {table} {row}" for row in (expected - got).elements()]
            found += [f"+ {table} {row}" for row in (got - expected).elements()]
        return found


def smallest(spans: Sequence[S], rules: oracle.Rules, seed: int | None) -> list[S]:
    """Leave out spans, first many at once, as long as a difference stays; for some seconds only."""
    few, step, until = list(spans), len(spans), time.monotonic() + SHRINKING_SECONDS
    while step := step // 2:
        for at in reversed(range(0, len(few), step)):
            rest = few[:at] + few[at + step :]
            if time.monotonic() < until and rest and differences(rest, rules, seed):
                few = rest
    return few


def agree(spans: Sequence[S], rules: oracle.Rules, seed: int | None = None) -> None:
    """Fail with the few spans and the rows that differ."""
    if differences(spans, rules, seed):
        few = smallest(spans, rules, seed)
        found = differences(few, rules, seed)
        pytest.fail("\n".join([str(rules), f"arrival {seed}", *map(repr, few), "", *found]), pytrace=False)


@pytest.mark.parametrize("seeds", [SEEDS[n : n + CROWD] for n in range(0, len(SEEDS), CROWD)], ids=str)
def test_the_engine_agrees_with_brute_force(seeds: Sequence[int]) -> None:
    """Every column of every table is what walking over the spans says; an environment starts with the seed."""
    agree(crowd(seeds), RULES[seeds[0] // CROWD % len(RULES)])


@pytest.mark.parametrize("seeds", [SEEDS[n : n + 10] for n in range(0, len(SEEDS), 20)], ids=str)
def test_no_order_batching_or_restart_matters(seeds: Sequence[int]) -> None:
    """In any order, in any batches, some of them twice, judged now and then, through restarts: the same tables."""
    agree(crowd(seeds), RULES[seeds[0] // 20 % len(RULES)], seeds[0])


@given(scenarios())
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_it_agrees_where_hypothesis_looks(spans: list[S]) -> None:
    """The same for sets that hypothesis draws."""
    found = differences(spans, RULES[0])
    assert not found, "\n".join([*map(repr, spans), *found])


def test_the_scenarios_reach_everything() -> None:
    """Every finding, kind of decision, verdict, flag and origin occurs in them: agreement is about all of these."""
    tables = oracle.tables(crowd(range(300)))
    reached = {
        (table, str(row[column]))
        for table, column in (("findings", "code"), ("decisions", "kind"), ("memory_versions", "origin"))
        for row in tables[table]
    }
    assert reached == {
        *(("findings", code) for code in oracle.SEVERITY),
        *(("decisions", kind) for kind in ("marked", "plan", "agent_run", "trace")),
        *(("memory_versions", origin) for origin in ("written", "observed")),
    }
    verdicts = {(row["scope"], row["label"]) for row in tables["evaluations"]}
    assert verdicts == {(s, label) for s in ("decision", "trace", "session") for label in ("pass", "fail")} | {
        ("decision", "not_evaluable")
    }
