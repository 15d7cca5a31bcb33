"""What emit workers read, over a real queue and a real state."""

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest

from weaklink_processor.analyst.feeds import forward_feed, outbox_feed
from weaklink_processor.analyst.outbox import Destination, Outbox
from weaklink_processor.analyst.state import Applied, State
from weaklink_processor.analyst.step import Sent
from weaklink_processor.emit.evaluator import ISSUED_SCHEMA
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.queue.store import QueueStore

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
BOTH = ("decision", "trace")
SPAN = b"s" * 100


@dataclass
class Data:
    """A data folder's queue and state."""

    queue: QueueStore
    state: State

    def receive(self, rows: int) -> None:
        """Append queue rows, each of its own random kilobyte."""
        for number in range(rows):
            self.queue.append([Random(number).randbytes(1000)], NOON)

    def apply(self, offset: int, *scopes: str) -> None:
        """Note that the analyst is so far, and that it made an evaluation of each scope."""
        self.state.store_applied(Applied(self.queue.id, offset))
        if scopes:
            row = {"trace_id": bytes(16), "span_id": 1, "span": SPAN, "service_name": "", "environment": ""}
            self.state.issue(pa.Table.from_pylist([row | {"scope": scope} for scope in scopes], ISSUED_SCHEMA))

    def destination(self, name: str, **choice: object) -> Destination:
        return Destination(OtlpExporter("localhost:1", name=name), **choice)  # type: ignore[arg-type]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Data]:
    queue = QueueStore.open(tmp_path / "queue.sqlite", max_bytes=1 << 30)
    with closing(queue), closing(State.open(tmp_path / "state.duckdb")) as state:
        queue.register("analyst")
        yield Data(queue, state)


def test_only_what_is_analysed_is_passed_over(data: Data) -> None:
    """Rows that the analyst has not done yet do not count as waiting for a destination."""
    data.queue.register("forward:a")
    data.receive(10)
    size = data.queue.stats().bytes // 10
    feed = forward_feed(data.queue, data.state, "forward:a", max_bytes=3 * size)
    assert (feed.read(0), feed.overflow()) == ([], 0)
    data.apply(5)
    assert ([row.offset for row in feed.read(0)], feed.overflow()) == ([1, 2, 3, 4, 5], 2)
    feed.advance(4)
    assert feed.overflow() == 4
    data.apply(10)
    assert feed.overflow() == 7
    assert forward_feed(data.queue, data.state, "forward:a").overflow() == 0


def test_evaluations_are_those_of_its_scopes(data: Data) -> None:
    """Others are neither read nor counted as waiting."""
    data.apply(0, "trace", "session", "decision", "session", "session", "trace", "session")
    feed = outbox_feed(data.queue, data.state, "forward:a", BOTH, consumer="evaluations:a", max_bytes=2 * len(SPAN))
    assert [row.seq for row in feed.read(0)] == [1, 3, 6]
    assert [row.seq for row in feed.read(3)] == [6]
    assert feed.overflow() == 1
    feed.advance(1)
    assert feed.overflow() == 0


def test_queue_rows_stay_with_the_evaluations_that_wait(data: Data) -> None:
    """Without a bound of their own, evaluations hold the rows that were applied until they were made, and no longer."""
    data.queue.register("evaluations:a")
    data.receive(5)
    feed = outbox_feed(data.queue, data.state, "forward:a", BOTH, consumer="evaluations:a")
    data.apply(1)
    assert (feed.read(0), data.queue.progress("evaluations:a")) == ([], 1)
    data.apply(2, "session")
    assert (feed.read(0), data.queue.progress("evaluations:a")) == ([], 2)
    data.apply(3, "trace")
    assert ([row.seq for row in feed.read(0)], data.queue.progress("evaluations:a")) == ([2], 2)
    data.apply(4, "trace")
    feed.advance(2)
    assert ([row.seq for row in feed.read(2)], data.queue.progress("evaluations:a")) == ([3], 3)
    data.apply(5, "trace")
    feed.advance(3)
    assert ([row.seq for row in feed.read(3)], data.queue.progress("evaluations:a")) == ([4], 4)
    feed.advance(4)
    assert (feed.read(4), data.queue.progress("evaluations:a")) == ([], 5)


def test_an_outbox_of_before_is_sent(tmp_path: Path) -> None:
    """A state file without scopes and sizes opens, and what waits in it goes out."""
    with closing(State.open(tmp_path / "state.duckdb")):
        pass
    with duckdb.connect(str(tmp_path / "state.duckdb")) as before:
        before.execute("ALTER TABLE outbox DROP COLUMN scope; ALTER TABLE outbox DROP COLUMN size")
        before.execute("INSERT INTO outbox (span, service_name, environment) VALUES ('s'::BLOB, '', '')")
    queue = QueueStore.open(tmp_path / "queue.sqlite", max_bytes=1 << 30)
    with closing(queue), closing(State.open(tmp_path / "state.duckdb")) as state:
        feed = outbox_feed(queue, state, "forward:a", BOTH, consumer="evaluations:a", max_bytes=1)
        assert ([row.span for row in feed.read(0)], feed.overflow()) == ([b"s"], 0)


def test_who_waits_for_what(data: Data) -> None:
    """Rows wait for what a destination is to get and may hold up; nobody else is waited for."""
    data.queue.register("forward:gone")
    destinations = [
        data.destination("all", scopes=BOTH),
        data.destination("spans"),
        data.destination("evaluations", spans=False, scopes=["session"]),
        data.destination("bounded", scopes=BOTH, max_bytes=100),
    ]
    outbox = Outbox(data.queue, data.state, destinations, ["analyst"])
    assert sorted(data.queue.stats().consumers) == [
        "analyst", "evaluations:all", "evaluations:evaluations", "forward:all", "forward:bounded", "forward:spans",
    ]  # fmt: skip
    assert outbox.scopes == {"decision", "trace", "session"}
    outbox.stop(0.1)


def test_what_a_destination_did_without_is_forgotten_with_it(data: Data) -> None:
    """Nobody asks for that any more; what those did without that are still there goes on being counted."""
    data.queue.register("forward:gone")
    for name in ("forward:gone", "evaluations:gone", "forward:bounded", "evaluations:bounded"):
        data.queue.pass_over(name, 3)
    outbox = Outbox(data.queue, data.state, [data.destination("bounded", scopes=BOTH, max_bytes=100)], ["analyst"])
    assert data.queue.passed_over() == {"evaluations:bounded": 3, "forward:bounded": 3}
    outbox.stop(0.1)


def test_kept_until_every_destination_has_it(data: Data) -> None:
    """The slowest of those that are to get it decides; where there is none, nothing is kept."""
    data.receive(4)
    destinations = [data.destination("a", scopes=BOTH), data.destination("b", scopes=BOTH, max_bytes=1)]
    outbox = Outbox(data.queue, data.state, destinations, ["analyst"])
    assert outbox.sent() == Sent(0, 0)
    data.queue.set_mark("forward:a", 7)
    data.queue.set_mark("forward:b", 5)
    for consumer, offset in (("forward:a", 4), ("evaluations:a", 3), ("forward:b", 2)):
        data.queue.release(consumer, offset)
    assert outbox.sent() == Sent(5, 2)
    nobody = Outbox(data.queue, data.state, [], ["analyst"])
    assert (nobody.sent(), nobody.scopes) == (Sent(sys.maxsize, sys.maxsize), set())
    outbox.stop(0.1)


def test_what_a_state_that_is_begun_anew_makes_is_sent(data: Data, tmp_path: Path) -> None:
    """Evaluations are numbered from 1 again, also where a destination had more of them from the state before."""
    data.apply(0, *["trace"] * 5)
    data.queue.set_mark("forward:a", 5)
    again = Outbox(data.queue, data.state, [data.destination("a", scopes=BOTH)], ["analyst"])
    assert data.queue.mark("forward:a") == 5
    again.stop(0.1)
    with closing(State.open(tmp_path / "anew.duckdb")) as state:
        outbox = Outbox(data.queue, state, [data.destination("a", scopes=BOTH)], ["analyst"])
        Data(data.queue, state).apply(0, "trace", "trace")
        assert (outbox.waiting()["evaluations:a"]["evaluations"], outbox.sent().outbox_seq) == (2, 0)
        outbox.stop(0.1)


def test_numbers_of_evaluations_outlive_a_restart(tmp_path: Path) -> None:
    """Also where all of them have been sent, so that nothing is left to count from."""
    with closing(State.open(tmp_path / "state.duckdb")) as state:
        queue = QueueStore.open(tmp_path / "queue.sqlite", max_bytes=1 << 30)
        assert state.last_issued() == 0
        with closing(queue):
            Data(queue, state).apply(0, "trace", "session", "trace")
        state.prune(3, 0)
    with closing(State.open(tmp_path / "state.duckdb")) as state:
        assert state.last_issued() == 3
