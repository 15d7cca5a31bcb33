"""The engine's tables against brute force, over generated scenarios.

WEAKLINK_SCENARIOS: how many seeds are tried. WEAKLINK_SCENARIO: one seed, alone.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
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
from weaklink_analysis.operations import Settings
from weaklink_analysis.spans import SPAN_SCHEMA
from weaklink_processor.decode.batch import decode

NOT_YET = ("decisions", "findings", "decision", "session")
"""Tables, columns, and scopes of evaluations, that the engine does not make as semantics.md says, yet."""

VIEWED = ("memories", "confidence_gating")
"""Tables that are views of the engine's own."""

JSON_COLUMNS = {("findings", "detail"), ("confidence_gating", "records")}

RULES = (
    oracle.Rules(),
    oracle.Rules(max_hops=2, min_threshold=0.3, flag_threshold=0.9, assumed_confidence=0.7, clock_skew_seconds=3.0),
    oracle.Rules(
        namespaces={"/ops/": (0.2, None), "/ops/db": (None, 0.7), "/op": (0.0, 0.1)},
        services={"svc": (0.1, 0.45), "other": (None, 0.9)},
    ),
    oracle.Rules(unresolved_confidence=0.35),
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
    """A table's rows; evaluations carry their checks, which the view of that name unnests."""
    if table in VIEWED:
        return analysis.view(table)
    if not table.startswith("evaluation"):
        return analysis.table(table)
    evaluations = analysis.table("evaluations")
    if table == "evaluations":
        return [{key: value for key, value in row.items() if key != "checks"} for row in evaluations]
    key = ("name", "scope", "trace_id", "span_id", "session_id", "rubric", "annotator_kind")
    return [
        {column: row[column] for column in key}
        | {"check_name": check["name"]}
        | {column: check[column] for column in ("passed", "weight", "detail")}
        for row in evaluations
        for check in cast("list[dict[str, object]]", row["checks"] or [])
    ]


def comparable(table: str, rows: Sequence[Mapping[str, object]]) -> Counter[str]:
    """Rows as text, moments in UTC and JSON parsed, without what the engine does not make yet."""

    def plain(column: str, value: object) -> object:
        if isinstance(value, datetime):
            return value.astimezone(UTC).isoformat()
        return json.loads(value) if isinstance(value, str) and (table, column) in JSON_COLUMNS else value

    made = [row for row in rows if row.get("scope") not in NOT_YET]
    return Counter(
        json.dumps({c: plain(c, value) for c, value in row.items() if c not in NOT_YET}, sort_keys=True) for row in made
    )


def differences(spans: Sequence[S], rules: oracle.Rules) -> list[str]:
    """What is said differently of these spans: `-` a row of the oracle's, `+` one of the engine's."""
    known = {key: value for key, value in asdict(rules).items() if key in Settings.__dataclass_fields__}
    with Analysis(Settings(**known)) as analysis:
        analysis.feed(spans)
        analysis.evaluate()
        found = []
        for table, rows in oracle.tables(spans, rules, content).items():
            if table not in NOT_YET:
                expected, got = comparable(table, rows), comparable(table, engine_rows(analysis, table))
                found += [f"- {table} {row}" for row in (expected - got).elements()]
                found += [f"+ {table} {row}" for row in (got - expected).elements()]
        return found


def smallest(spans: Sequence[S], rules: oracle.Rules) -> list[S]:
    """Leave out spans, first many at once, as long as a difference stays; for some seconds only."""
    few, step, until = list(spans), len(spans), time.monotonic() + SHRINKING_SECONDS
    while step := step // 2:
        for at in reversed(range(0, len(few), step)):
            rest = few[:at] + few[at + step :]
            if time.monotonic() < until and rest and differences(rest, rules):
                few = rest
    return few


def agree(spans: Sequence[S], rules: oracle.Rules) -> None:
    """Fail with the few spans and the rows that differ."""
    if differences(spans, rules):
        few = smallest(spans, rules)
        pytest.fail("\n".join([str(rules), *map(repr, few), "", *differences(few, rules)]), pytrace=False)


@pytest.mark.parametrize("seeds", [SEEDS[n : n + CROWD] for n in range(0, len(SEEDS), CROWD)], ids=str)
def test_the_engine_agrees_with_brute_force(seeds: Sequence[int]) -> None:
    """Every column of every table is what walking over the spans says; an environment starts with the seed."""
    agree(crowd(seeds), RULES[seeds[0] // CROWD % len(RULES)])


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
