"""What a child tells its parent every second."""

import sqlite3
from collections.abc import Mapping

import pytest
from structlog.testing import capture_logs

from weaklink_processor.errors import Overloaded
from weaklink_processor.metrics import ANALYSED_SPANS
from weaklink_processor.supervise import lifeline, news
from weaklink_processor.supervise.news import News
from weaklink_service import wait_until


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, object]]:
    """What the parent hears, of a child that tells much more often."""
    messages: list[Mapping[str, object]] = []
    monkeypatch.setattr(news, "_PERIOD_SECONDS", 0.01)
    monkeypatch.setattr(lifeline, "tell_parent", messages.append)
    return messages


def test_what_is_new_is_told_once(heard: list[Mapping[str, object]]) -> None:
    """A source that says the same again has no news, also while another has some."""
    said = {"a": 1, "b": 1}
    with News(metrics=False).telling_of({"a": lambda: said["a"], "b": lambda: said["b"]}):
        wait_until(lambda: heard, "the first news")
        said["b"] = 2
        wait_until(lambda: len(heard) > 1, "the second")
    assert heard == [{"a": 1, "b": 1}, {"b": 2}]


def test_a_source_is_asked_no_more_at_the_end(heard: list[Mapping[str, object]]) -> None:
    """What it reads from is closed then; what was counted is told to the last."""
    child = News(metrics=True)
    asked: list[int] = []

    def counting() -> int:
        asked.append(1)
        return len(asked)

    with child.telling():
        with child.telling_of({"a": counting}):
            wait_until(lambda: asked, "a question")
        so_far = list(asked)
        child.tally.add(ANALYSED_SPANS, 3)
    assert asked == so_far
    assert heard[-1]["counts"] == [[ANALYSED_SPANS.name, {}, 3]]


def test_a_source_that_fails_is_told_once_and_asked_again(heard: list[Mapping[str, object]]) -> None:
    """A fault is logged, and neither with every second nor for good; the other sources go on meanwhile."""
    left: list[Exception | int] = [sqlite3.InterfaceError("bad"), sqlite3.InterfaceError("bad"), Overloaded("busy"), 7]

    def failing() -> int:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    with capture_logs() as logged, News(metrics=False).telling_of({"a": failing, "b": lambda: 1}):
        wait_until(lambda: {"a": 7} in heard, "the answer")
    assert heard == [{"b": 1}, {"a": 7}]
    assert [(line["event"], line["of"]) for line in logged] == [("nothing new is told", "a")]
