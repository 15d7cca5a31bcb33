"""Evaluations that wait for the spans that they are about."""

import sys

import pytest

from analyst.test_feeds import BOTH, Data
from analyst.test_feeds import data as data  # noqa: PLC0414  a fixture
from weaklink_processor.analyst import following
from weaklink_processor.analyst.feeds import outbox_feed
from weaklink_processor.analyst.following import Following


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
