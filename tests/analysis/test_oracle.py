"""The engine's tables against brute force, over generated scenarios.

WEAKLINK_SCENARIOS: how many seeds are tried. WEAKLINK_SCENARIO: one seed, alone.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings

import oracle
from engine_harness import Analysis
from otlp import S, payload
from scenarios import crowd, scenarios
from weaklink_analysis.identity import fingerprint
from weaklink_analysis.mai.rubrics import FINDING_CHECKS, STRICT, STRUCTURAL
from weaklink_analysis.operations import Settings
from weaklink_analysis.scoring import Scoring
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
    oracle.Rules(unresolved_confidence=0.35),
    oracle.Rules(half_lives={"semantic": 0.0001, "fact": 1e-5}, stale_below=0.6),
)

COUNT, ALONE = int(os.environ.get("WEAKLINK_SCENARIOS", "150")), os.environ.get("WEAKLINK_SCENARIO")
SEEDS = [int(ALONE)] if ALONE else range(COUNT)
CROWD = 30
"""Scenarios a database: making one costs more than analysing a scenario."""

SHRINKING_SECONDS = 60


def content(s: S) -> str:
    """SHA-256 of a span's stored content, which only matters where copies end at one moment."""
    return fingerprint(decode([payload([s])]).spans.select(SPAN_SCHEMA.names).to_pylist()[0])


def engine_rows(analysis: Analysis, tables: Iterable[str]) -> dict[str, list[dict[str, object]]]:
    """Each table's rows without what depends on the order of arrival."""
    found = {table: analysis.table(table) for table in tables if table not in VIEWED} | analysis.views(*VIEWED)
    return {
        table: [{column: value for column, value in row.items() if column not in ARRIVAL} for row in rows]
        for table, rows in found.items()
    }


def comparable(table: str, rows: Sequence[Mapping[str, object]]) -> Counter[str]:
    """Rows as text, moments in UTC and JSON parsed."""

    def plain(column: str, value: object) -> object:
        if isinstance(value, datetime):
            return value.astimezone(UTC).isoformat()
        return json.loads(value) if isinstance(value, str) and (table, column) in JSON_COLUMNS else value

    return Counter(json.dumps({c: plain(c, value) for c, value in row.items()}, sort_keys=True) for row in rows)


def arrive(analysis: Analysis, spans: Sequence[S], seed: int) -> None:
    """Feed spans in some order, in batches of any size, some of them twice; judge, few or many traces at once, and
    restart now and then."""
    rng, waiting = random.Random(seed), list(spans)
    rng.shuffle(waiting)
    while waiting:
        size = rng.choice((1, 2, 5, 20, 100, 1000))
        batch, waiting = waiting[:size], waiting[size:]
        analysis.feed(batch)
        if rng.random() < 0.2:
            analysis.feed(rng.sample(batch, len(batch)))
        if rng.random() < 0.4:
            analysis.evaluate(at_most=rng.choice((4, 1000)))
        if rng.random() < 0.1:
            analysis.restart()


def differences(spans: Sequence[S], rules: oracle.Rules, seed: int | None = None) -> list[str]:
    """What is said differently of these spans: `-` a row of the oracle's, `+` one of the engine's.

    They come at once, or with a seed in some order, in batches.
    """
    known = {key: value for key, value in asdict(rules).items() if key in Settings.__dataclass_fields__}
    scoring = Scoring(half_lives=rules.half_lives, stale_below=rules.stale_below)
    with Analysis(Settings(**known, scoring=scoring)) as analysis:
        if seed is None:
            analysis.feed(spans)
        else:
            arrive(analysis, spans, seed)
        analysis.evaluate()
        found, told = [], oracle.tables(spans, rules, content)
        made = engine_rows(analysis, told)
        for table, rows in told.items():
            expected, got = comparable(table, rows), comparable(table, made[table])
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


@pytest.mark.parametrize("seeds", [SEEDS[n : n + 10] for n in range(0, len(SEEDS), CROWD)], ids=str)
def test_no_order_batching_or_restart_matters(seeds: Sequence[int]) -> None:
    """In any order, in any batches, some of them twice, judged now and then, through restarts: the same tables."""
    agree(crowd(seeds), RULES[seeds[0] // CROWD % len(RULES)], seeds[0])


@given(scenarios())
@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_it_agrees_where_hypothesis_looks(spans: list[S]) -> None:
    """The same for sets that hypothesis draws."""
    found = differences(spans, RULES[0])
    assert not found, "\n".join([*map(repr, spans), *found])


def test_the_scenarios_reach_everything() -> None:
    """Every finding, kind of decision, verdict, flag and origin occurs in them: agreement is about all of these."""
    tables = oracle.tables(crowd(range(150)), oracle.Rules(half_lives={"semantic": 0.0001}, stale_below=0.9))
    reached = {
        (table, str(row[column]))
        for table, column in (
            ("findings", "code"),
            ("decisions", "kind"),
            ("memory_versions", "origin"),
            ("memory_versions", "confidence_source"),
        )
        for row in tables[table]
    }
    assert reached == {
        *(("findings", code) for code in oracle.SEVERITY),
        *(("decisions", kind) for kind in ("marked", "plan", "agent_run", "trace")),
        *(("memory_versions", origin) for origin in ("written", "observed")),
        *(("memory_versions", source) for source in ("declared", "derived", "assumed")),
    }
    verdicts = {(row["scope"], row["label"]) for row in tables["evaluations"]}
    assert verdicts == {(s, label) for s in ("decision", "trace", "session") for label in ("pass", "fail")} | {
        ("decision", "not_evaluable")
    }


def weighed(world: oracle.Oracle) -> list[tuple[object, ...]]:
    """By the strict rubric: scope, target, score and the checks that fail, of every trace and every session."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in oracle.findings(world):
        found.setdefault((str(row["trace_id"]), str(row["span_id"])), []).append(str(row["code"]))
    groups: dict[tuple[str, object], tuple[list[oracle.Op], set[oracle.Spot]]] = {}
    for op in (op for op in world.ops if op.counted):
        for key in (("trace", op.spot.s.trace), ("session", (op.spot.s.environment, op.session))):
            ops, spots = groups.setdefault(key, ([], set()))
            ops.append(op)
            spots |= set(op.spot.trace.values()) if key[0] == "trace" else {op.spot}
    for d in world.decisions:
        key = ("session", (d.spot.s.environment, d.spot.inherited(oracle.SESSION)))
        if any(op.spot.s.trace == d.spot.s.trace for op in groups.get(key, ([], ()))[0]):
            groups[key][1].add(d.spot)
    judged: list[tuple[object, ...]] = []
    for (scope, target), (ops, spots) in groups.items():
        if isinstance(target, tuple) and target[1] is None:
            continue
        codes = Counter(code for spot in spots for code in found.get((spot.ids["trace_id"], spot.ids["span_id"]), ()))  # type: ignore[arg-type]
        passes = {name: passed for name, passed, _, _ in oracle.structure(world, ops)}
        passes |= {code: not codes[code] for code in FINDING_CHECKS}
        score = sum(STRICT.weights[name] for name in STRICT.weights if passes[name]) / sum(STRICT.weights.values())
        failed = sorted(f"{name} {codes[name]}" for name, passed in passes.items() if not passed)
        judged.append((scope, str(target), round(score, 4), failed))
    return judged


@pytest.mark.parametrize("seed", range(max(COUNT // CROWD, 1)))
def test_the_strict_rubric_weighs_findings(seed: int) -> None:
    """Of each trace and session it knows how many findings of each code there are, however the spans arrived."""
    spans = crowd(range(10 * seed, 10 * seed + 10))
    with Analysis(Settings(rubrics=(STRUCTURAL, STRICT))) as analysis:
        arrive(analysis, spans, seed)
        analysis.evaluate()
        rows = [row for row in analysis.table("evaluations") if row["rubric"] == STRICT.name]
    got = []
    for row in rows:
        checks = cast("list[dict[str, object]]", row["checks"])
        counts = {c["name"]: cast("float", c["found"]) if c["name"] in FINDING_CHECKS else 0 for c in checks}
        failed = sorted(f"{c['name']} {counts[c['name']]:.0f}" for c in checks if not c["passed"])
        of_session = (row["environment"], row["session_id"])
        target = str(int(str(row["trace_id"]), 16)) if row["scope"] == "trace" else str(of_session)
        got.append((row["scope"], target, row["score"], failed))
    assert sorted(got, key=repr) == sorted(weighed(oracle.Oracle(spans, oracle.Rules(), content)), key=repr)
