"""The numbers that forwarded spans leave with, against the engine's published tables."""

import duckdb
import pyarrow as pa
import pytest

from engine_harness import Analysis
from otlp import S, read, span_id, trace_id, write
from scenarios import crowd
from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings

NAMES = ("effective_confidence", "confidence_flag", "chain_depth", "chain_min_confidence", "weakest_id")
Numbers = dict[tuple[bytes, int], tuple[object, ...]]


def asked(spans: list[S]) -> pa.Table:
    """The keys of these spans, as the engine is asked for them."""
    traces = pa.array([trace_id(s.trace) for s in spans], pa.binary(16))
    keys = pa.array([int.from_bytes(span_id(s.span)) for s in spans], pa.uint64())
    return pa.table({"trace": pa.ExtensionArray.from_storage(pa.uuid(), traces), "span": keys})


def found(engine: Engine, spans: list[S]) -> Numbers:
    """What the engine answers."""
    rows = engine.weakest(asked(spans)).to_pylist()
    answers = {
        (bytes.fromhex(row["trace_id"]), int(row["span_id"], 16)): tuple(row[name] for name in NAMES) for row in rows
    }
    assert len(answers) == len(rows)
    return answers


def brute_force(analysis: Analysis) -> Numbers:
    """The same from the published versions and the operations' version keys, one operation after the other."""
    versions = {row["version_key"]: row for row in analysis.engine.snapshot("memory_versions").to_pylist()}
    operations = analysis.database.execute(
        "SELECT trace, span, version_key FROM operations WHERE version_key IS NOT NULL ORDER BY trace, span, ordinal"
    ).fetchall()
    weakest: Numbers = {}
    for trace, span, key in operations:
        numbers = tuple(versions[key][name] for name in NAMES)
        known = weakest.setdefault((trace.bytes, span), numbers)
        if numbers[0] < known[0]:
            weakest[trace.bytes, span] = numbers
    return weakest


@pytest.mark.parametrize("settings", [Settings(), Settings(max_hops=2, min_threshold=0.3, flag_threshold=0.9)])
def test_each_span_has_the_numbers_of_its_weakest_version(settings: Settings) -> None:
    """In any scenario, an engine on a cursor of its own answers what is published; and nothing for other spans."""
    spans = crowd(range(60))
    with Analysis(settings) as analysis:
        analysis.feed(spans)
        beside = Engine(analysis.database.cursor(), settings)
        expected = brute_force(analysis)
        assert len(expected) > 300
        assert found(beside, [*spans, S(7777, 77)]) == expected
        assert found(beside, []) == {}


def test_ties_and_unresolved_records() -> None:
    """Of equally weak records the first one counts; a span without a resolved record has no numbers."""
    with Analysis() as analysis:
        records = '[{"id": "b"}, {"id": "nowhere"}, {"id": "a"}, {"id": "strong"}]'
        search = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": records}
        lineage = {"memledger.memory.operation": "lineage", "memledger.memory.id": "never written"}
        spans = [
            write(1, 1, "a", 0.3),
            write(1, 2, "b", 0.3, 1),
            write(1, 3, "strong", 0.9, 2),
            S(1, 4, "search_memory", start=3, end=4, attributes=search),
            S(1, 5, "memledger.memory.lineage", start=5, end=6, attributes=lineage),
            read(1, 6, "strong", None, 7),
        ]
        analysis.feed(spans)
        numbers = found(analysis.engine, spans)
        assert numbers[trace_id(1), 4] == (0.3, "FILTER", 0, None, "b")
        assert numbers[trace_id(1), 6] == (0.9, "PASS", 0, None, "strong")
        assert (trace_id(1), 5) not in numbers


def test_uncommitted_work_is_not_seen() -> None:
    """What the analyst is at work on is not read before it has committed."""
    database = duckdb.connect()
    with Analysis(database=database) as analysis:
        beside = Engine(database.cursor(), Settings())
        spans = [write(1, 1, "a", 0.3)]
        database.begin()
        analysis.feed(spans)
        assert found(beside, spans) == {}
        database.commit()
        assert len(found(beside, spans)) == 1
