"""Evaluations that wait for the spans that they are about."""

import sys
import time
from functools import partial

import pytest

from analyst.test_feeds import BOTH, Data
from analyst.test_feeds import data as data  # noqa: PLC0414  a fixture
from evaluations import STRUCTURAL, rows
from phoenix_sink import PhoenixSink
from weaklink_processor.analyst import following
from weaklink_processor.analyst.feeds import outbox_feed
from weaklink_processor.analyst.following import Following
from weaklink_processor.analyst.outbox import Destination, Outbox
from weaklink_processor.analyst.state import Applied
from weaklink_processor.emit.evaluator import evaluator_spans
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.emit.patience import Patience, as_annotations
from weaklink_processor.emit.settings import ExportSettings


@pytest.fixture
def spans(data: Data) -> Data:
    """Two consumers that get the spans, and five rows."""
    data.queue.register("forward:a")
    data.queue.register("forward:b")
    data.receive(5)
    return data


def test_evaluations_follow_the_spans(spans: Data) -> None:
    """Those made from rows that each of the consumers has are read, later ones only when it has those too."""
    ahead = Following(spans.queue, spans.state, ["forward:a", "forward:b"])
    feed = outbox_feed(spans.queue, spans.state, "forward:p", BOTH, consumer="evaluations:p", until=ahead.newest)
    spans.queue.register("evaluations:p")
    spans.apply(2, "trace", "decision")
    assert feed.read(0) == []
    spans.apply(4, "trace")
    assert feed.read(0) == []
    spans.queue.release("forward:a", 5)
    spans.queue.release("forward:b", 2)
    assert [row.seq for row in feed.read(0)] == [1, 2]
    spans.queue.release("forward:b", 3)
    assert feed.read(2) == []
    spans.queue.release("forward:b", 4)
    assert [row.seq for row in feed.read(2)] == [3]
    spans.apply(4, "trace")  # made as time went by, of the same rows
    assert [row.seq for row in feed.read(3)] == [4]


def test_nobody_to_follow(spans: Data) -> None:
    """Without another destination on its host, everything is read at once."""
    assert Following(spans.queue, spans.state, []).newest() == sys.maxsize


def test_what_was_read_once_stays_readable(spans: Data) -> None:
    """Also when the outbox is emptied."""
    ahead = Following(spans.queue, spans.state, ["forward:a"])
    spans.apply(2, "trace")
    spans.queue.release("forward:a", 2)
    assert ahead.newest() == 1
    spans.state.prune(1, 0)
    spans.apply(3)
    spans.queue.release("forward:a", 3)
    assert ahead.newest() == 1


def test_points_are_bounded(spans: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more of them than are kept, an evaluation waits longer than it has to, and never less."""
    monkeypatch.setattr(following, "MOST", 2)
    ahead = Following(spans.queue, spans.state, ["forward:a"])
    for offset in range(1, 5):
        spans.apply(offset, "trace")
        assert ahead.newest() == 0
    for done, newest in ((1, 1), (2, 1), (3, 1), (4, 4)):
        spans.queue.release("forward:a", done)
        assert ahead.newest() == newest


def test_a_destination_waits_for_those_that_it_follows(spans: Data) -> None:
    """It is told of a trace when the other one has the rows, and not before."""
    spans.state.store_applied(Applied(spans.queue.id, 2))
    spans.state.issue(evaluator_spans(rows(STRUCTURAL)))
    with PhoenixSink() as sink:
        exporter = OtlpExporter(sink.endpoint, ExportSettings("phoenix"), "p")
        tell = partial(as_annotations, "p", Patience())
        destination = Destination(exporter, spans=False, scopes=BOTH, tell=tell, follows=["forward:a"])
        outbox = Outbox(spans.queue, spans.state, [destination], ["analyst", "forward:a", "forward:b"])
        outbox.start()
        spans.queue.release("forward:a", 1)
        time.sleep(0.5)
        assert sink.attempts == []
        spans.queue.release("forward:a", 2)
        outbox.wake()
        sink.wait_for(lambda it: len(it.requests) == 1)
        outbox.stop(1.0)
    assert [each["trace_id"] for each in sink.kept.values()] == [STRUCTURAL.trace_id]
    assert spans.queue.mark("forward:p") == 1
