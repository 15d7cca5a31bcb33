"""The cookbook's questions and the panels made of them, asked of a month of data on which a service is at work.

WEAKLINK_MONTH=5000000 makes it a whole month, and then each question has 300 ms at p95 on two cores.
"""

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from statistics import mean
from typing import Any

import duckdb
import pytest

from cookbook import anew, at, milliseconds, opened
from dashboards.conftest import ROOT, SPANS, WHOLE, Served
from dashboards.panels_asked import COLUMNS, asked, targets
from panels import DUCKDB, PROMETHEUS, VARIABLES
from scrape import scrape
from weaklink_analysis.cookbook import Question, question, questions
from weaklink_processor.metrics import INSTRUMENTS

LIMIT_MS, RUNS = 300, 21
KNOWN_TYPES = {"BIGINT", "INTEGER", "DOUBLE", "VARCHAR", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"}
"""What Grafana's plugin turns into values of Grafana's."""
METRIC = re.compile(r"\b(?:otelcol|weaklink)_\w+")
GROUPED = re.compile(r"by \(([\w, ]+)\)")
VERSION = ("environment", "store", "memory_id", "version")
MIDNIGHT = {"hour": 0, "minute": 0, "second": 0, "microsecond": 0}

Row = Mapping[str, Any]


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Sequence[Row]:
    answer = connection.execute(sql)
    columns = [str(column[0]) for column in answer.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]


def within(connection: duckdb.DuckDBPyConnection, days: int) -> Callable[[datetime], bool]:
    """Whether a time is in the last days, on the clock of the transaction: some of what is sent has yet to happen."""
    ((now,),) = connection.execute("SELECT now()").fetchall()
    assert isinstance(now, datetime)
    return lambda time: now - timedelta(days=days) <= time <= now


@contextmanager
def answered(
    month: Served, name: str, days: int
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Sequence[Row], Callable[[datetime], bool]]]:
    """A connection that stays at one moment, the answer to a question then, and whether a time is in the last days."""
    with opened(month.path) as connection:
        connection.begin()
        yield connection, rows(connection, question(name).sql), within(connection, days)


@pytest.fixture(scope="module")
def chosen(month: Served) -> Mapping[str, str]:
    """All values of each variable, and a length of steps."""
    with opened(month.path) as connection:
        every = {
            name: connection.execute(f"SELECT DISTINCT {column} FROM decisions").fetchall()
            for column, name in COLUMNS.items()
        }
    return {name: ",".join(f"'{value}'" for (value,) in values) for name, values in every.items()} | {
        "step": "'6 hours'"
    }


@pytest.mark.parametrize("one", questions(), ids=lambda one: one.name)
def test_questions_have_answers(one: Question, month: Served) -> None:
    """Of a whole month each is given in its time, on a connection of its own and on one that is kept."""
    with opened(month.path) as connection:
        assert connection.execute(one.sql).fetchall() != []
        if SPANS >= WHOLE:
            kept = milliseconds(lambda: connection.execute(one.sql).fetchall(), RUNS)
            new = milliseconds(lambda: anew(month.path, one.sql), RUNS)
            assert max(at(0.95, kept), at(0.95, new)) <= LIMIT_MS


@pytest.mark.parametrize(("panel", "target"), targets(DUCKDB))
def test_panels_have_answers(
    panel: dict[str, Any], target: dict[str, Any], month: Served, chosen: Mapping[str, str]
) -> None:
    """Each query has rows, of types that the plugin knows; a series over time is in the order of time."""
    with opened(month.path) as connection:
        answer = connection.execute(asked(target["rawSql"], chosen))
        columns = {str(column[0]): str(column[1]) for column in answer.description or ()}
        found = answer.fetchall()
    assert found
    assert set(columns.values()) <= KNOWN_TYPES
    shown = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]}
    assert panel["type"] != "table" or shown & set(columns) or not shown
    if target["format"] == "time_series":
        times = [row[list(columns).index("time")] for row in found]
        assert times == sorted(times)


@pytest.mark.parametrize("sql", VARIABLES.values(), ids=list(VARIABLES))
def test_variables_have_values(sql: str, month: Served, chosen: Mapping[str, str]) -> None:
    """What one may choose of is found."""
    with opened(month.path) as connection:
        assert connection.execute(asked(sql, chosen)).fetchall()


@pytest.mark.parametrize(("panel", "target"), targets(PROMETHEUS))
def test_metrics_are_exposed(panel: dict[str, Any], target: dict[str, Any], month: Served) -> None:
    """Each metric is one that the running service shows, or a counter of what has not happened, with its labels."""
    shown = {sample.name.removesuffix("_total"): set(sample.labels) for sample in scrape(month.metrics).samples}
    counters = {name: set(one.labels) for name, one in INSTRUMENTS.items() if one.kind == "counter"}
    samples = counters | shown
    names = METRIC.findall(target["expr"])
    assert names
    assert [name for name in names if name not in samples] == []
    grouped = {label for labels in GROUPED.findall(target["expr"]) for label in labels.split(", ")}
    assert all(grouped <= samples[name] for name in names)
    assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= grouped, panel["title"]


def test_the_notebook_runs(month: Served) -> None:
    """As a program it computes every cell, plots among them."""
    environment = os.environ | {"WEAKLINK_DATA_DIR": str(month.service.data_dir)}
    subprocess.run([sys.executable, ROOT / "examples" / "notebook.py"], env=environment, check=True, timeout=60)


def test_mai_is_the_mean_of_a_days_scores(month: Served) -> None:
    """By service and UTC day, those of decisions that have a score."""
    with answered(month, "mai_over_time", 30) as (connection, asked, recent):
        found = defaultdict(list)
        for row in rows(connection, "FROM evaluations"):
            if row["scope"] == "decision" and recent(row["evaluated_at"]):
                day = row["evaluated_at"].astimezone(UTC).replace(**MIDNIGHT)
                found[day, row["service_name"]].append((row["score"], row["score_effective"]))
    expected = {
        key: tuple(mean(score for score in scores if score is not None) for scores in zip(*pairs, strict=True))
        for key, pairs in found.items()
    }
    actual = {(row["time"], row["service_name"]): (row["declared"], row["effective"]) for row in asked}
    assert actual.keys() == expected.keys()
    assert all(actual[key] == pytest.approx(expected[key]) for key in expected)


def test_the_leaderboard_counts_decisions_that_stand_on_a_memory(month: Served) -> None:
    """Whoever is the weakest link of a version that a weak decision relied on is blamed for that decision, once."""
    with answered(month, "contamination_leaderboard", 7) as (connection, asked, recent):
        weak_versions = {
            tuple(row[part] for part in VERSION): (row["environment"], row["store"], row["weakest_id"])
            for row in rows(connection, "FROM memory_versions WHERE effective_confidence < 0.4")
        }
        blamed = defaultdict(set)
        for decision in rows(connection, "FROM decisions"):
            weak = decision["min_effective_confidence"] is not None and decision["min_effective_confidence"] < 0.4
            if weak and recent(decision["start_time"]):
                for version in decision["relied_on"]:
                    if weakest := weak_versions.get(tuple(version[part] for part in VERSION)):
                        blamed[weakest].add((decision["trace_id"], decision["span_id"]))
    actual = {(row["environment"], row["store"], row["weakest_id"]): row["decisions"] for row in asked}
    assert len(actual) == min(20, len(blamed))
    assert actual == {key: len(blamed[key]) for key in actual}
    assert min(actual.values()) >= sorted(map(len, blamed.values()), reverse=True)[len(actual) - 1]


def test_claims_are_inflated_above_the_chains_minimum(month: Served) -> None:
    """Of the versions that derive from something, the share that declares more than its weakest ancestor."""
    with answered(month, "inflated_claims", 30) as (connection, asked, recent):
        claims = defaultdict(list)
        for row in rows(connection, "FROM memory_versions WHERE chain_min_confidence IS NOT NULL"):
            if row["confidence_source"] != "assumed" and recent(row["written_at"]):
                above = row["declared_confidence"] > row["chain_min_confidence"]
                claims[row["environment"], row["agent_id"]].append(above)
    assert len(asked) == 20
    for row in asked:
        own = claims[row["environment"], row["agent_id"]]
        assert (row["derived"], row["inflated"]) == (len(own), pytest.approx(mean(own)))
    assert asked[0]["inflated"] == pytest.approx(max(map(mean, claims.values())))


def test_gaps_are_what_the_services_leave_out(month: Served) -> None:
    """Billing names no record on a tenth of its reads, operations no agent on three tenths; the others name both."""
    with opened(month.path) as connection:
        asked = rows(connection, question("instrumentation_gaps").sql)
    gaps = {(row["service_name"], row["operation"]): row for row in asked}
    assert 0.02 < gaps["billing", "read"]["without_id"] < 0.3
    assert gaps["support", "read"]["without_id"] == gaps["support", "read"]["without_agent"] == 0
    assert 0.05 < gaps["operations", "write"]["without_agent"] < 0.6


def test_readers_are_shown_beside_authors(month: Served) -> None:
    """A decision counts once for each memory that it relied on, at who wrote the version."""
    with answered(month, "readers_and_authors", 7) as (connection, asked, recent):
        authors = {
            tuple(row[part] for part in VERSION): row["agent_id"] for row in rows(connection, "FROM memory_versions")
        }
        pairs = Counter(
            (row["environment"], row["agent_id"], authors[version])
            for row in rows(connection, "FROM decisions")
            if recent(row["start_time"])
            for version in (tuple(record[part] for part in VERSION) for record in row["relied_on"])
            if version in authors
        )
    actual = {(row["environment"], row["reader"], row["author"]): row["relied_on"] for row in asked}
    assert actual.items() <= pairs.items()
    assert max(pairs.values()) == asked[0]["relied_on"]
