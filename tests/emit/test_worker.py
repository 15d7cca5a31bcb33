"""The worker between durable sources (SQLite files) and a real OTLP/gRPC server."""

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from structlog.testing import capture_logs

from sink import OtlpSink
from turns import TIMED
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.emit.feed import Feed, ForwardRow, OutboxRow, SpanKey
from weaklink_processor.emit.retry import Backoff
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.worker import EmitWorker
from weaklink_processor.metrics import FAILED_SPANS, SENT_SPANS, Tally

QUICK = ExportSettings(backoff=Backoff(initial_seconds=0.02, max_seconds=0.1))
PATIENT = ExportSettings(backoff=Backoff(initial_seconds=60.0, max_seconds=60.0))
TRACE = b"t" * 16


def span(number: int) -> Span:
    """Return a span whose id and name are the number."""
    return Span(trace_id=TRACE, span_id=number.to_bytes(8), name=str(number))


def request(*numbers: int) -> bytes:
    """Return a request of these spans, with a field that no version knows."""
    scope = ScopeSpans(spans=[span(number) for number in numbers])
    message = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])])
    return message.SerializeToString() + b"\xfa\x7f\x03new"


class Sources:
    """A forward source and an outbox in one SQLite file, the rows kept in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[ForwardRow] = []
        self.evaluations: list[OutboxRow] = []
        self.reads = 0
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("CREATE TABLE IF NOT EXISTS progress (consumer TEXT PRIMARY KEY, done INTEGER)")

    def add(self, *requests: bytes, own: frozenset[SpanKey] = frozenset()) -> None:
        """Append a queue row."""
        self.rows = [*self.rows, ForwardRow(len(self.rows) + 1, requests, own)]

    def add_evaluation(self, number: int) -> None:
        """Append an outbox row."""
        row = OutboxRow(len(self.evaluations) + 1, span(number).SerializeToString(), "triage", "production")
        self.evaluations = [*self.evaluations, row]

    def progress(self, consumer: str) -> int:
        """Return the last row done."""
        with closing(sqlite3.connect(self.path)) as file:
            row = file.execute("SELECT done FROM progress WHERE consumer = ?", (consumer,)).fetchone()
        return row[0] if row else 0

    def advance(self, consumer: str, offset: int) -> None:
        """Keep the last row done; it never goes back."""
        assert offset > self.progress(consumer)
        with closing(sqlite3.connect(self.path)) as file, file:
            file.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (consumer, offset))

    def forward(self) -> Feed[ForwardRow]:
        """Return the queue rows as the worker takes them, three a read."""

        def read(after: int) -> list[ForwardRow]:
            self.reads += 1
            return [row for row in self.rows if row.offset > after][:3]

        return Feed(read, lambda: self.progress("forward"), lambda offset: self.advance("forward", offset))

    def outbox(self) -> Feed[OutboxRow]:
        """Return the evaluations as the worker takes them."""
        return Feed(
            lambda after: [row for row in self.evaluations if row.seq > after],
            lambda: self.progress("outbox"),
            lambda seq: self.advance("outbox", seq),
        )


@pytest.fixture
def sink() -> Iterator[OtlpSink]:
    """Return a running sink."""
    with OtlpSink() as running:
        yield running


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """Return empty sources."""
    return Sources(tmp_path / "progress.sqlite")


Start = Callable[..., EmitWorker]


@pytest.fixture
def start(sink: OtlpSink, sources: Sources) -> Iterator[Start]:
    """Return a function that starts a worker from the sources to the sink."""
    workers: list[EmitWorker] = []

    def begin(
        settings: ExportSettings = QUICK, *, forward: Feed[ForwardRow] | None = None,
        outbox: Feed[OutboxRow] | None = None, poll_seconds: float = 0.05, window: int = 8, tally: Tally | None = None,
    ) -> EmitWorker:  # fmt: skip
        exporter = OtlpExporter(sink.endpoint, settings)
        forward, outbox = forward or sources.forward(), outbox or sources.outbox()
        worker = EmitWorker(exporter, forward, outbox, window=window, poll_seconds=poll_seconds, tally=tally)
        worker.start()
        workers.append(worker)
        return worker

    yield begin
    for worker in workers:
        worker.stop(1.0)


def until(reached: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for a condition; fail if it does not come."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_originals_are_forwarded_byte_for_byte_once_each(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """Every request of every row, as it came, in any order; progress ends at the last row."""
    sent = [request(number, number + 1) for number in range(1, 41)]
    for index in range(0, 40, 4):
        sources.add(*sent[index : index + 4])
    worker = start()
    until(lambda: sources.progress("forward") == 10)
    assert sorted(sink.requests) == sorted(sent)
    until(lambda: worker.stats().requests == 40)


def test_evaluations_are_sent_in_batches_once_each(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """Up to 512 spans a request."""
    for number in range(1, 601):
        sources.add_evaluation(number)
    worker = start()
    until(lambda: sources.progress("outbox") == 600)
    assert sorted(int(each.name) for each in sink.spans()) == list(range(1, 601))
    assert len(sink.requests) == 2
    until(lambda: worker.stats().evaluations == 600)


def test_own_spans_are_not_forwarded(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """Spans of weaklink that came back are left out; a row of nothing else is passed over."""
    own = frozenset({(TRACE, (1).to_bytes(8))})
    sources.add(request(1), own=own)
    sources.add(request(1, 2), request(3), own=own)
    start()
    until(lambda: sources.progress("forward") == 2)
    assert sorted(each.name for each in sink.spans()) == ["2", "3"]
    assert request(3) in sink.requests


def test_progress_waits_for_every_answer_of_a_row(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """A row of which one request is still to be answered is not done."""
    sink.fail(grpc.StatusCode.UNAVAILABLE, times=1)
    sources.add(request(1), request(2))
    worker = start(PATIENT)
    until(lambda: len(sink.requests) == 1 and worker.stats().retried == 1)
    assert sources.progress("forward") == 0


def test_a_refused_request_does_not_hold_up_the_rest(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """A permanent error drops that request, is counted, and progress goes on."""
    sink.fail(grpc.StatusCode.INVALID_ARGUMENT, times=1)
    for number in range(1, 6):
        sources.add(request(number))
    worker = start()
    until(lambda: sources.progress("forward") == 5)
    assert len(sink.requests) == 4
    until(lambda: (worker.stats().failed, worker.stats().requests) == (1, 4))


def test_everything_arrives_when_the_destination_is_back(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """An outage delays and neither loses nor doubles."""
    sink.stop()
    sent = [request(number) for number in range(1, 31)]
    for each in sent:
        sources.add(each)
    sources.add_evaluation(1000)
    worker = start()
    until(lambda: worker.stats().away)
    assert sources.progress("forward") == 0
    sink.start()
    until(lambda: sources.progress("forward") == 30 and sources.progress("outbox") == 1)
    assert sorted(each for each in sink.requests if each in sent) == sorted(sent)
    assert len(sink.requests) == 31
    until(lambda: not worker.stats().away)


def test_a_restart_goes_on_where_it_left_off(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """What the file says is done is not sent again, and what is new is sent."""
    sources.add(request(1))
    sources.add_evaluation(2)
    first = start()
    until(lambda: sources.progress("forward") == 1 and sources.progress("outbox") == 1)
    first.stop(1.0)
    sources.add(request(3))
    sources.add_evaluation(4)
    start()
    until(lambda: sources.progress("forward") == 2 and sources.progress("outbox") == 2)
    assert sorted(each.name for each in sink.spans()) == ["1", "2", "3", "4"]


def test_a_row_whose_progress_was_lost_is_sent_again(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """A crash between the answer and the record of it: at least once."""
    sources.add(request(1))
    feed = sources.forward()

    def lose(_: int) -> None:
        raise OSError("the machine stopped here")

    first = start(forward=Feed(feed.read, feed.progress, lose))
    sink.wait_for(lambda it: len(it.requests) == 1)
    first.stop(1.0)
    assert sources.progress("forward") == 0
    start()
    until(lambda: sources.progress("forward") == 1)
    assert sink.requests == [request(1)] * 2


def test_a_source_that_fails_for_a_while_doubles_nothing(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """Failing reads and advances are logged once, tried again, and no request is sent twice for them."""
    for number in range(1, 4):
        sources.add(request(number))
    feed = sources.forward()
    failures = {"read": 3, "advance": 3}

    def sometimes(name: str) -> None:
        if failures[name]:
            failures[name] -= 1
            raise sqlite3.OperationalError("database is locked")

    def read(after: int) -> list[ForwardRow]:
        sometimes("read")
        return list(feed.read(after))

    def advance(offset: int) -> None:
        sometimes("advance")
        feed.advance(offset)

    with capture_logs() as lines:
        start(forward=Feed(read, feed.progress, advance))
        until(lambda: sources.progress("forward") == 3)
    assert sorted(sink.requests) == [request(number) for number in range(1, 4)]
    assert [line["event"] for line in lines][:1] == ["feed_away"]
    assert len(lines) <= 2


def test_several_requests_are_in_flight_and_never_more_than_the_window(
    sink: OtlpSink, sources: Sources, start: Start
) -> None:
    """Requests of several rows wait for their answers together, up to the window."""
    sink.delay = 0.5
    for number in range(1, 7):
        sources.add(request(number), request(number + 10))
    start(window=4)
    sink.wait_for(lambda it: len(it.attempts) == 4)
    time.sleep(0.2)
    assert len(sink.attempts) == 4
    assert sink.requests == []


def test_wake_reads_at_once(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """A new row goes out at the wake, not at the next poll."""
    worker = start(poll_seconds=60.0)
    until(lambda: sources.reads == 1)
    sources.add(request(1))
    worker.wake()
    sink.wait_for(lambda it: len(it.requests) == 1, 5.0)


def test_idle_is_a_read_a_poll(sources: Sources, start: Start) -> None:
    """Without work it sleeps between polls."""
    start(poll_seconds=0.1)
    time.sleep(0.55)
    assert 2 <= sources.reads <= 7


def test_stop_sends_what_is_left(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """Rows that were ready at the stop are still sent within the drain time."""
    sink.delay = 0.05
    worker = start(poll_seconds=60.0)
    until(lambda: sources.reads == 1)
    for number in range(1, 21):
        sources.add(request(number))
    sources.add_evaluation(99)
    worker.stop(60.0)
    assert (sources.progress("forward"), sources.progress("outbox")) == (20, 1)
    assert len(sink.requests) == 21


@TIMED
@pytest.mark.parametrize("down", ["refuses", "gone"])
def test_stop_does_not_wait_for_a_destination_that_is_away(
    sink: OtlpSink, sources: Sources, start: Start, down: str
) -> None:
    """Nothing can be sent, so nothing is waited for; the rows stay for the next start."""
    sink.fail(grpc.StatusCode.UNAVAILABLE, retry_after=60.0)
    if down == "gone":
        sink.stop()
    for number in range(1, 21):
        sources.add(request(number))
    worker = start(PATIENT)
    until(lambda: worker.stats().retried >= 1)
    began = time.monotonic()
    worker.stop(5.0)
    assert time.monotonic() - began < 1.0
    assert sources.progress("forward") == 0
    assert worker.stats().failed == 0


@TIMED
def test_stop_ends_within_the_drain_time_though_calls_hang(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """A destination that takes a request and never answers is hung up on."""
    sink.delay = 5.0
    sources.add(request(1))
    worker = start(PATIENT)
    sink.wait_for(lambda it: len(it.attempts) == 1)
    began = time.monotonic()
    worker.stop(1.0)
    assert time.monotonic() - began <= 1.0
    until(lambda: not any(thread.name.startswith("emit-") for thread in threading.enumerate()), 1.0)
    assert sources.progress("forward") == 0


@TIMED
def test_stop_twice_and_without_a_start(sink: OtlpSink, sources: Sources) -> None:
    """Both do nothing, at once."""
    began = time.monotonic()
    EmitWorker(OtlpExporter(sink.endpoint), sources.forward(), sources.outbox()).stop(5.0)
    worker = EmitWorker(OtlpExporter(sink.endpoint), sources.forward(), sources.outbox())
    worker.start()
    worker.stop(5.0)
    worker.stop(5.0)
    assert time.monotonic() - began < 1.0


def test_one_feed_does_not_wait_for_the_other(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """Evaluations go out while forwarded requests wait for their answers, however many there are."""
    sink.fail(grpc.StatusCode.UNAVAILABLE, times=3)
    for number in range(1, 4):
        sources.add(request(number))
    worker = start(PATIENT)
    until(lambda: worker.stats().retried == 3)
    sources.add_evaluation(99)
    worker.wake()
    sink.wait_for(lambda it: len(it.requests) == 1)
    assert [each.name for each in sink.spans()] == ["99"]
    assert sources.progress("forward") == 0


def test_what_there_is_no_room_for_is_passed_over(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """While the destination is away, the oldest rows are given up, those in flight too; each is taken or counted."""
    sink.stop()
    for number in range(1, 21):
        sources.add(request(number))
    feed = sources.forward()
    counted: list[int] = []
    overflow = 0
    with capture_logs() as lines:
        worker = start(PATIENT, forward=replace(feed, overflow=lambda: overflow, passed_over=counted.append))
        until(lambda: worker.stats().away)
        assert sources.progress("forward") == 0
        overflow = 17
        until(lambda: sources.progress("forward") == 17)
        assert (sum(counted), worker.stats().passed_over, worker.stats().failed) == (17, 17, 0)
    assert [line["event"] for line in lines] == ["destination_away", "passed_over"]
    worker.stop(1.0)
    sink.start()
    start()
    until(lambda: sources.progress("forward") == 20)
    assert sorted(sink.requests) == sorted(request(number) for number in (18, 19, 20))
    assert sum(counted) == 17


def test_evaluations_are_passed_over_one_by_one(sink: OtlpSink, sources: Sources, start: Start) -> None:
    """A request of several evaluations counts as so many."""
    sink.stop()
    for number in range(1, 6):
        sources.add_evaluation(number)
    counted: list[int] = []
    feed = replace(sources.outbox(), overflow=lambda: 5, passed_over=counted.append)
    start(outbox=feed)
    until(lambda: sources.progress("outbox") == 5)
    until(lambda: counted == [5])


@pytest.mark.parametrize(("rejected", "failed"), [(0, 0), (3, 3), (99, 5), (-1, 0)])
def test_spans_that_are_refused_in_part_are_not_counted_as_sent(
    sink: OtlpSink, sources: Sources, start: Start, rejected: int, failed: int
) -> None:
    """They count as refused, and never more of them than there were, whatever the destination says."""
    sink.partial = ExportTracePartialSuccess(rejected_spans=rejected)
    sources.add(request(1, 2, 3, 4, 5))
    tally, counted = Tally(), Counter[str]()
    start(tally=tally)
    while counted.total() < 5:
        counted.update({name: number for name, _, number in tally.take().get("counts", [])})
    assert counted == +Counter({SENT_SPANS.name: 5 - failed, FAILED_SPANS.name: failed})
