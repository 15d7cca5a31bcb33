"""A step: all or nothing, and the same again after a crash at any line of it."""

import contextlib
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from structlog.testing import capture_logs

from analyst_process import NOW, RECOGNISER, Process, rows
from otlp import payload, read, write
from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_processor.analyst.state import State
from weaklink_processor.decode.batch import decode
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.parts import PartWriter
from weaklink_processor.queue.store import Row
from weaklink_service import tables

SECOND = timedelta(seconds=1)


class Crash(BaseException):
    """Stands for the end of the process: nothing in the product catches it."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    """The tables of a run without a crash."""
    folder = tmp_path_factory.mktemp("calm")
    process = Process(folder)
    process.work(rows())
    process.end()
    return tables(folder)


CRASH_POINTS: dict[str, tuple[type, str]] = {
    "before a part is written": (PartWriter, "write"),
    "before the parts are noted": (State, "add_parts"),
    "before the offset is noted": (State, "store_applied"),
    "before spans are admitted": (Engine, "admit"),
    "before they are analysed": (Engine, "absorb"),
    "before evaluation": (Engine, "evaluate"),
    "before the outbox": (State, "issue"),
    "before readers see it": (Lake, "publish"),
    "before tidying": (State, "expire"),
}


def crash_at(patch: pytest.MonkeyPatch, owner: type, name: str, call: int) -> None:
    """Let the n-th call of a method end the process instead."""
    original: Callable[..., object] = getattr(owner, name)
    calls = iter(range(1, 1_000_000))

    def ending(*arguments: object, **more: object) -> object:
        if next(calls) == call:
            raise Crash
        return original(*arguments, **more)

    patch.setattr(owner, name, ending)


@pytest.mark.parametrize("point", CRASH_POINTS)
@pytest.mark.parametrize("call", [1, 3])
def test_a_crash_anywhere_loses_nothing_and_doubles_nothing(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]], point: str, call: int
) -> None:
    """Whatever line the process ends at, the next one brings every table to what it would have been."""
    first = Process(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        crash_at(patch, *CRASH_POINTS[point], call)
        with contextlib.suppress(Crash):
            first.work(rows())
    first.end()
    second = Process(tmp_path)
    second.work(rows())
    second.end()
    assert tables(tmp_path) == undisturbed


def test_a_replaced_queue_is_read_from_its_beginning(tmp_path: Path) -> None:
    """Offsets mean something only within one queue file; row ids and publications go on."""
    process = Process(tmp_path)
    process.work(rows())
    applied = process.state.applied("another")
    process.end()
    assert (applied.offset, applied.next_row_id > 0, applied.seq > 0) == (0, True, True)


def test_a_traces_quiet_period_begins_with_its_own_last_span(tmp_path: Path) -> None:
    """Not with the last one that was received before the step."""
    process = Process(tmp_path, Settings(quiet_seconds=5))
    waited = [
        Row(1, NOW, [payload([write(1, 1, "m", 0.9)])]),
        Row(2, NOW + 4 * SECOND, [payload([write(2, 1, "n", 0.9)])]),
    ]
    together = RECOGNISER.recognise(decode([request for row in waited for request in row.requests]))
    process.step.apply(waited, together, NOW + 4 * SECOND, caught_up=True)
    for seconds, due in ((4.9, False), (5, True), (8.9, False), (9, True)):
        now = NOW + seconds * SECOND
        assert process.step.due(now) is due
        assert bool(process.step.tick(now).revisions) is due
    process.end()


def test_a_clock_that_was_set_back_holds_up_no_verdict(tmp_path: Path) -> None:
    """Who has arrived later than the clock says, by more than the quiet period, is judged at once."""
    process = Process(tmp_path, Settings(quiet_seconds=5))
    for offset, ahead in ((1, timedelta(days=365)), (2, 9 * SECOND)):
        row = Row(offset, NOW + ahead, [payload([write(offset, 1, f"m{offset}", 0.9)])])
        done = process.step.apply([row], RECOGNISER.recognise(decode(row.requests)), row.received_at, caught_up=True)
        assert bool(done.revisions) is (offset == 2)
    for seconds, due in ((4, False), (3, True)):
        now = NOW + seconds * SECOND
        assert process.step.due(now) is due
        assert bool(process.step.tick(now).revisions) is due
    process.end()


def test_who_waits_is_not_written_again_with_every_step(tmp_path: Path) -> None:
    """With a quiet period of hours millions of traces wait, and a step has to do with few of them."""
    process = Process(tmp_path, Settings(quiet_seconds=7200))
    waiting = "SELECT trace, rowid, last_arrival FROM pending ORDER BY trace"
    found = []
    for offset, trace in enumerate((1, 2, 1), start=1):
        row = Row(offset, NOW + offset * SECOND, [payload([write(trace, offset, f"m{trace}", 0.9)])])
        process.step.apply([row], RECOGNISER.recognise(decode(row.requests)), row.received_at, caught_up=True)
        found.append({trace.int: where for trace, *where in process.state.connection.execute(waiting).fetchall()})
    process.end()
    (first, arrived), (_, again) = found[0][1], found[2][1]
    assert found[1][1] == [first, arrived]
    assert again == arrived + 2 * SECOND
    assert found[2][2] == found[1][2]


def test_changed_settings_are_named_and_a_quiet_period_is_none(tmp_path: Path) -> None:
    """Nothing that is stored depends on how long a trace waits; what other settings change is computed anew."""
    process = Process(tmp_path, Settings(quiet_seconds=5))
    process.work(rows())
    before = process.state.parts()
    process.end()
    for settings, changed in (
        (Settings(quiet_seconds=9), []),
        (Settings(quiet_seconds=9, max_hops=2, min_threshold=0.1), ["max_hops", "min_threshold"]),
    ):
        with capture_logs() as told:
            process = Process(tmp_path, settings)
        assert (process.state.parts() == before) is not bool(changed)
        process.end()
        assert [line["changed"] for line in told] == [changed] * bool(changed)


def test_own_spans_that_come_back_change_nothing(tmp_path: Path) -> None:
    """An EVALUATOR span is known by the ids that were issued, and is neither stored nor analysed."""
    process = Process(tmp_path)
    process.work(rows())
    before = tables(tmp_path)
    outbox = process.state.connection.execute("SELECT span FROM outbox").fetchall()
    issued = [Span.FromString(span) for (span,) in outbox]
    back = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=issued)])])
    process.work([Row(4, NOW, [back.SerializeToString()])])
    returned = process.state.connection.execute("SELECT queue_offset, count(*) FROM returned GROUP BY ALL").fetchall()
    process.end()
    assert len(issued) == 3
    assert returned == [(4, 3)]
    assert tables(tmp_path) == before


def test_an_own_span_that_is_no_longer_known_changes_no_verdict(tmp_path: Path) -> None:
    """One that comes back that late is a span like any other: stored, and nothing more follows from it."""
    process = Process(tmp_path)
    process.work(rows())
    before = tables(tmp_path)
    outbox = process.state.connection.execute("SELECT span FROM outbox").fetchall()
    process.state.prune(sys.maxsize, 0)
    process.state.forget_issued(datetime.now(UTC) + timedelta(hours=1))
    issued = [Span.FromString(span) for (span,) in outbox]
    back = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=issued)])])
    process.work([Row(4, NOW, [back.SerializeToString()])])
    again = process.state.connection.execute("SELECT count(*) FROM outbox").fetchall()
    process.end()
    after = tables(tmp_path)
    assert len(after["spans"]) == len(before["spans"]) + len(issued)
    assert again == [(0,)]
    assert {name: rows for name, rows in after.items() if name != "spans"} == {
        name: rows for name, rows in before.items() if name != "spans"
    }


def test_a_span_a_minute_late_makes_a_revision_exactly_if_a_verdict_changes(tmp_path: Path) -> None:
    """60 s after two traces were judged the last span of each arrives, and only one changes a verdict: that trace gets
    revision 2, and the outbox holds one EVALUATOR span a revision."""
    process = Process(tmp_path)
    judged = NOW + timedelta(seconds=5)
    late = judged + timedelta(seconds=60)
    early = Row(1, NOW, [payload([write(1, 1, "fact", 0.9, 1), write(2, 1, "other", 0.9, 1)])])
    last = Row(2, late, [payload([read(1, 2, "fact", 0.2, 60), read(2, 2, "other", 0.9, 60)])])
    for row, then in ((early, judged), (last, late + timedelta(seconds=5))):
        process.step.apply([row], RECOGNISER.recognise(decode(row.requests)), row.received_at, caught_up=True)
        assert process.step.tick(then - timedelta(microseconds=1)).revisions == 0
        process.step.tick(then)
    process.step.publish()
    process.step.settle(late)
    outbox = process.state.connection.execute("SELECT span FROM outbox").fetchall()
    process.end()
    with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as lake:
        told = lake.sql(
            "SELECT CAST(trace_id AS INTEGER), revision, passed FROM evaluation_history "
            "WHERE scope = 'trace' ORDER BY ALL"
        ).fetchall()
    assert told == [(1, 1, True), (1, 2, False), (2, 1, True)]
    sent = [Span.FromString(span) for (span,) in outbox]
    assert sorted(int.from_bytes(span.trace_id) for span in sent if span.name == "evaluators.mai_structural") == [
        1,
        1,
        2,
    ]
    assert len({span.span_id for span in sent}) == len(sent) == 5
