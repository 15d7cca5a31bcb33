"""What follows a step: parts are merged while there is time, and deleted once no reader can list them."""

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyst_process import NOW, RECOGNISER, Process, rows
from otlp import payload, write
from weaklink_processor.analyst import step as step_module
from weaklink_processor.commands.replay import take
from weaklink_processor.config import Config
from weaklink_processor.decode.batch import decode
from weaklink_processor.lake import merging
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.parts import Part, PartWriter
from weaklink_processor.queue import framing
from weaklink_processor.queue.store import Row
from weaklink_service import tables


def test_parts_that_readers_may_still_list_stay_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A superseded part is deleted after its grace time, not before."""
    process = Process(tmp_path)
    process.work(rows())
    base = next(part for part in process.state.parts("memory_versions") if part.base)
    monkeypatch.setattr(merging, "DELTA_ROWS", 0)
    process.work([], now=NOW)
    process.work([Row(4, NOW, [payload([write(3, 1, "x", 0.5, 1)])])], now=NOW + timedelta(minutes=1))
    assert (tmp_path / "lake" / base.path).exists()
    process.work([Row(5, NOW, [payload([write(3, 2, "y", 0.5, 1)])])], now=NOW + timedelta(minutes=11))
    process.end()
    assert not (tmp_path / "lake" / base.path).exists()


def test_a_clock_that_was_set_back_keeps_no_file(tmp_path: Path) -> None:
    """What was superseded at a time to come is deleted a grace time from now."""
    process = Process(tmp_path)
    process.work(rows())
    old = {part.path for part in process.state.parts("memory_versions")}
    process.step.compact(NOW + timedelta(days=365), whole=True)
    for minutes, kept in ((0, True), (9, True), (12, False)):
        process.work([], now=NOW + timedelta(minutes=minutes))
        assert all((tmp_path / "lake" / path).exists() is kept for path in old)
    process.end()


def test_no_file_is_deleted_while_the_catalogue_lists_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor after a long silence or a restart behind the merge that superseded it."""
    removed: list[str] = []

    def checked(_: PartWriter, path: str) -> None:
        with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as catalogue:
            views = catalogue.execute("SELECT string_agg(sql) FROM duckdb_views()").fetchall()[0][0]
        assert path not in views
        removed.append(path)

    def slowly(lake: Lake, parts: Sequence[Part]) -> None:
        time.sleep(0.3)
        publish(lake, parts)

    publish = Lake.publish
    monkeypatch.setattr(Lake, "publish", slowly)
    monkeypatch.setattr(PartWriter, "remove", checked)
    monkeypatch.setattr(merging, "SMALL_PARTS", 2)
    for life in range(3):
        process = Process(tmp_path)
        for hour in range(2):
            number = 1 + 2 * life + hour
            at = NOW + timedelta(hours=number)
            process.work([Row(number, at, [payload([write(number, 1, f"m{number}", 0.5, 1)])])], now=at)
        process.end()
    assert removed


def test_a_merge_that_fails_changes_nothing_and_is_tried_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps and publications go on as if there were nothing to merge; after a pause it is done."""
    process = Process(tmp_path)
    monkeypatch.setattr(merging, "SMALL_PARTS", 2)
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "merge", lambda *_: (_ for _ in ()).throw(OSError("No space left on device")))
        process.work(rows())
        shown = tables(tmp_path)
        parts = process.state.parts()
    process.work([], now=NOW + timedelta(minutes=1))
    assert process.state.parts() == parts
    process.work([], now=NOW + timedelta(minutes=6))
    assert len(process.state.parts()) < len(parts)
    process.end()
    assert tables(tmp_path) == shown


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each time that it was looked for merges: whether there was time to spare."""
    noted_down: list[bool] = []
    due = Lake.due

    def noted(lake: Lake, *arguments: Any, resting: bool) -> list[merging.Merge]:
        noted_down.append(resting)
        return due(lake, *arguments, resting=resting)

    monkeypatch.setattr(Lake, "due", noted)
    return noted_down


@pytest.mark.parametrize(("few", "caught_up", "rests"), [(1_000, True, True), (1_000, False, False), (1, True, False)])
def test_more_is_merged_while_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[bool], *, few: int, caught_up: bool, rests: bool
) -> None:
    """Behind a step of few spans with nothing waiting, and behind any other once nothing came for a while."""
    monkeypatch.setattr(step_module, "FEW", few)
    process = Process(tmp_path)
    (first, *_) = rows()
    asked.clear()
    process.step.apply([first], RECOGNISER.recognise(decode(first.requests)), NOW, caught_up=caught_up)
    process.step.publish()
    process.step.settle(NOW)
    process.step.settle(NOW + step_module.TIDY_PAUSE)
    process.end()
    assert asked == [rests, True]


@pytest.mark.parametrize(("thrifty", "rests"), [(False, True), (True, False)])
def test_what_is_read_once_is_not_merged_in_time_to_spare(
    tmp_path: Path, asked: list[bool], *, thrifty: bool, rests: bool
) -> None:
    """A folder made of files for one look never has time to spare; that of `replay` has, at the end."""
    file = tmp_path / "spans.binpb"
    file.write_bytes(framing.join([payload([write(1, 1, "triage", 0.3, 1)])]))
    take(Config(data_dir=tmp_path / "data"), [file], thrifty=thrifty)
    assert any(asked) is rests
