"""The analyst's loop over a real queue, a real state and a real lake; only the fault is forced."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from otlp import payload, write
from weaklink_analysis.engine import JUDGED_TRACES, Engine
from weaklink_processor import wiring
from weaklink_processor.analyst import step as step_module
from weaklink_processor.analyst.requests import DONE, ask, is_done
from weaklink_processor.analyst.state import State
from weaklink_processor.analyst.step import Done, Step
from weaklink_processor.config import Config
from weaklink_processor.config.analysing import Analysis
from weaklink_processor.config.forwarding import Forward
from weaklink_processor.errors import Overloaded
from weaklink_processor.queue.store import QueueStore
from weaklink_service import wait_until

SPANS = [write(1, 1, "a", 0.9), write(1, 2, "b", 0.8, parents=["a"])]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(data_dir=tmp_path)


@pytest.fixture
def queue(config: Config) -> Iterator[QueueStore]:
    with wiring.open_queue(config) as queue:
        queue.append([payload(SPANS)], datetime.now(UTC))
        queue.append([payload([write(2, 1, "c", 0.8, 9, parents=["b"])])], datetime.now(UTC))
        yield queue


@contextmanager
def failing_commits(monkeypatch: pytest.MonkeyPatch, fault: Exception, times: int) -> Iterator[None]:
    """The next commits fail, after all that was to be committed has been done."""
    transaction, left = State.transaction, iter(range(times))

    @contextmanager
    def failing(state: State) -> Iterator[None]:
        with transaction(state):
            yield
            if next(left, None) is not None:
                raise fault

    with monkeypatch.context() as patch:
        patch.setattr(State, "transaction", failing)
        yield


def test_a_commit_without_room_on_the_disk_is_done_again(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What DuckDB says then, as it does of a disk that is full, is not the rows' fault: none is set aside."""
    fault = duckdb.TransactionException("TransactionContext Error: Failed to commit: No space left on device")
    with wiring._analyst(config, queue) as (analyst, _):
        with failing_commits(monkeypatch, fault, times=3):
            assert [analyst._turn() for _ in range(4)] == [False] * 4
        analyst.drain()
    stats = queue.stats()
    assert (stats.rows, stats.quarantined) == (0, 0)
    with wiring.open_catalogue(config) as views:
        assert views.execute("SELECT memory_id FROM memories ORDER BY ALL").fetchall() == [("a",), ("b",), ("c",)]


def test_a_state_that_is_broken_for_good_sets_nothing_aside(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB refuses everything after a fatal error: the process ends, the next one applies the rows."""
    with (
        pytest.raises(duckdb.FatalException),
        wiring._analyst(config, queue) as (analyst, _),
        failing_commits(monkeypatch, duckdb.FatalException("database has been invalidated"), times=1),
    ):
        analyst.drain()
    assert (queue.stats().rows, queue.stats().quarantined) == (2, 0)
    wiring.drain(config)
    assert (queue.stats().rows, queue.stats().quarantined) == (0, 0)


def test_a_trace_that_cannot_be_judged_holds_up_no_row(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are applied without a verdict, and none is set aside for it; verdicts come as soon as they can be made."""
    evaluate = Engine.evaluate

    def failing(engine: Engine, *given: Any) -> int:
        engine._db.execute("SELECT error('out of range') FROM pending")
        return evaluate(engine, *given)

    at_once = config.model_copy(update={"analysis": Analysis(quiet_period=0)})
    with wiring._analyst(at_once, queue) as (analyst, _):
        with monkeypatch.context() as patch:
            patch.setattr(Engine, "evaluate", failing)
            assert [analyst._turn() for _ in range(3)] == [False, True, False]  # together, the first, the other
            queue.append([payload([write(3, 1, "d", 0.8, 12)])], datetime.now(UTC))
            assert [analyst._turn() for _ in range(2)] == [False, False]
            assert (queue.stats().rows, queue.stats().quarantined) == (0, 0)
            with wiring.open_catalogue(config) as views:
                assert views.execute("SELECT count(*) FROM memories").fetchall() == [(4,)]
                assert views.execute("SELECT count(*) FROM evaluations").fetchall() == [(0,)]
        analyst._turn()
        analyst._settle()
    with wiring.open_catalogue(config) as views:
        assert views.execute("SELECT count(*) FROM evaluations WHERE scope = 'trace'").fetchall() == [(3,)]


def test_an_analyst_that_fails_leaves_no_thread_that_sends(config: Config, queue: QueueStore) -> None:
    """One that waits for a destination that is away would keep the process, and with it the folder, for ever."""

    def sending() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name.startswith(("emit-", "export-"))]

    away = config.model_copy(update={"forward": Forward(endpoint="127.0.0.1:1")})
    with pytest.raises(ZeroDivisionError), wiring._analyst(away, queue) as (analyst, outbox):  # noqa: PT012  the set-up
        outbox.start()
        analyst._turn()
        wait_until(lambda: all(outbox.away().values()), "an attempt to have failed")
        assert sending()
        raise ZeroDivisionError
    wait_until(lambda: not sending(), "the threads to end")


def test_rows_that_were_applied_before_a_crash_are_released_after_it(config: Config, queue: QueueStore) -> None:
    """Also if nothing new arrives."""
    with wiring._analyst(config, queue) as (analyst, _):
        analyst._release = lambda _: None  # as if it had died before
        analyst._turn()
    assert queue.stats().rows == 2
    with wiring._analyst(config, queue) as (analyst, _):
        analyst._turn()
    assert queue.stats().rows == 0


def test_what_others_ask_for_waits_while_the_queue_cannot_be_written(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a compaction is done is noted in the queue's file: a disk that is full does not end the analyst."""
    asked, tried, set_mark = ask(queue), [], QueueStore.set_mark

    def full(store: QueueStore, name: str, value: int) -> None:
        if name == DONE:
            tried.append(name)
            raise Overloaded("database or disk is full")
        set_mark(store, name, value)

    with wiring._analyst(config, queue) as (analyst, _):
        with monkeypatch.context() as patch:
            patch.setattr(QueueStore, "set_mark", full)
            wait_until(lambda: analyst._turn() or tried, "the note that it is done")
        assert not is_done(queue, asked)
        wait_until(lambda: analyst._turn() or is_done(queue, asked), "the compaction to be told as done")


@pytest.mark.parametrize(("few", "expected"), [(1, [True, False]), (10**9, [False, True, False])])
def test_more_traces_than_are_judged_at_once_are_judged_turn_by_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int, expected: list[bool]
) -> None:
    """When more traces are due than one transaction has memory for, the next turn follows at once, until none is.

    Also where so many are judged without a new verdict that it counts as little.
    """
    monkeypatch.setattr(step_module, "FEW", few)
    config = Config(data_dir=tmp_path, analysis=Analysis(quiet_period=0))
    with wiring.open_queue(config) as queue:
        queue.append(
            [payload([write(trace, 1, f"m{trace}", 0.9) for trace in range(1, 2 * JUDGED_TRACES + 2)])],
            datetime.now(UTC),
        )
        with wiring._analyst(config, queue) as (analyst, _):
            turns = [analyst._turn() for _ in expected]
            analyst.drain()
    with wiring.open_catalogue(config) as catalogue:
        ((judged,),) = catalogue.sql("SELECT count(*) FROM evaluations WHERE scope = 'trace'").fetchall()
    assert turns == expected
    assert judged == 2 * JUDGED_TRACES + 1


@pytest.mark.parametrize(("few", "rests"), [(1_000, True), (1, False)])
def test_after_a_small_step_readers_have_the_machine(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch, *, few: int, rests: bool
) -> None:
    """For twice as long as it took; after a large one the analyst goes on at once."""
    stop, apply, worked, rested = threading.Event(), Step.apply, [], []

    def slow(step: Step, *arguments: Any, **more: Any) -> Done:
        began = time.monotonic()
        done = apply(step, *arguments, **more)
        time.sleep(0.2)
        worked.append(time.monotonic() - began)
        return done

    def wait(seconds: float) -> bool:
        rested.append(seconds)
        stop.set()
        return True

    monkeypatch.setattr(Step, "apply", slow)
    monkeypatch.setattr(stop, "wait", wait)
    monkeypatch.setattr(step_module, "FEW", few)
    with wiring._analyst(config, queue) as (analyst, _):
        analyst._publish_seconds = 0.1
        analyst.run(stop)
    assert (rested[0] >= 2 * worked[0]) is rests


@pytest.mark.parametrize(("few", "waits"), [(1_000, True), (1, False)])
def test_what_becomes_due_behind_a_small_step_waits_for_the_next_turn(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch, *, few: int, waits: bool
) -> None:
    """A judgement of few traces costs as much as a step; behind a large one much has become due, and is judged."""
    monkeypatch.setattr(step_module, "FEW", few)
    later = datetime.now(UTC) + timedelta(minutes=1)
    with wiring._analyst(config, queue) as (analyst, _):
        clock = iter([analyst._clock()])  # when the step begins; then it is later
        monkeypatch.setattr(analyst, "_clock", lambda: next(clock, later))
        assert analyst._turn() is False
        assert analyst._step.due(later) is waits
        analyst._turn()
        assert not analyst._step.due(later)


def test_what_is_due_is_judged_while_rows_cannot_be_applied(
    config: Config, queue: QueueStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that there is no memory for fails for as long as that is so; verdicts do not wait for it."""
    later = datetime.now(UTC) + timedelta(minutes=1)
    with wiring._analyst(config, queue) as (analyst, _):
        analyst._turn()
        queue.append([payload([write(3, 1, "d", 0.8)])], later)
        monkeypatch.setattr(Step, "apply", lambda *_, **__: (_ for _ in ()).throw(MemoryError))
        monkeypatch.setattr(analyst, "_clock", lambda: later)
        assert analyst._step.due(later)
        analyst._turn()
        assert not analyst._step.due(later)


def test_at_rest_nothing_is_written(config: Config, queue: QueueStore) -> None:
    """An analyst with nothing to do leaves the queue's file alone: each write would be an fsync a second."""
    with (
        wiring._analyst(config, queue) as (analyst, _),
        closing(sqlite3.connect(config.data_dir / "queue.sqlite")) as db,
    ):
        analyst.drain()
        analyst._turn()
        before = db.execute("PRAGMA data_version").fetchone()
        assert [analyst._turn() for _ in range(3)] == [False] * 3
        assert db.execute("PRAGMA data_version").fetchone() == before
