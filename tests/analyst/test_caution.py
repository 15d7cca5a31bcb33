"""Rows that the analyst cannot cope with are set aside; a machine that cannot is no fault of theirs."""

import select
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from structlog.testing import capture_logs

import rehearsals
from otlp import S, payload
from rehearsals import decoder_dies, is_asked_to_end, models_die, says_what_is_wrong, well
from weaklink_processor import wiring
from weaklink_processor.analyst.caution import Caution, Rehearse
from weaklink_processor.config import Config
from weaklink_processor.errors import Overloaded
from weaklink_processor.queue.store import QueueStore
from weaklink_service import PATIENCE

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NO_PROTOBUF = b"\xff\xff\xff"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(data_dir=tmp_path)


@pytest.fixture
def queue(config: Config) -> Iterator[QueueStore]:
    with wiring.open_queue(config) as queue:
        yield queue


def good(number: int) -> bytes:
    return payload([S(number, 1, f"good {number}")])


def names(config: Config) -> list[str]:
    with wiring.open_catalogue(config) as catalogue:
        return [name for (name,) in catalogue.execute("SELECT name FROM spans ORDER BY name").fetchall()]


def test_a_row_that_cannot_be_analysed(config: Config, queue: QueueStore) -> None:
    """It is set aside and logged, the rows around it are analysed, and the analyst goes on, also after a restart."""
    for request in (good(1), NO_PROTOBUF, good(2)):
        queue.append([request], NOON)
    with capture_logs() as logs:
        wiring.drain(config)
    told = [entry for entry in logs if entry["event"] == "queue row set aside"]
    assert [(entry["offset"], entry["reason"]) for entry in told] == [(2, "it cannot be analysed")]
    queue.append([good(3)], NOON)
    wiring.drain(config)
    assert names(config) == ["good 1", "good 2", "good 3"]
    assert (queue.stats().rows, queue.stats().quarantined) == (0, 1)


FAULTS_OF_THE_MACHINE = {
    "a part cannot be written": OSError(28, "No space left on device"),
    "the state's log cannot be written": duckdb.TransactionException("Failed to commit: No space left on device"),
    "the state cannot be read": duckdb.IOException("Could not read from file"),
    "no memory": duckdb.OutOfMemoryException("failed to allocate"),
    "the queue cannot be written": Overloaded("database or disk is full"),
}


@pytest.mark.parametrize("fault", FAULTS_OF_THE_MACHINE.values(), ids=FAULTS_OF_THE_MACHINE)
def test_a_fault_of_the_machine(config: Config, queue: QueueStore, fault: Exception) -> None:
    """Rows that failed because of it stay where they are, and are applied when it has passed."""
    queue.append([good(1)], NOON)
    with wiring._analyst(config, queue) as (analyst, _):
        failing_once(analyst._step, fault)
        analyst._turn()
        assert (queue.stats().rows, queue.stats().quarantined) == (1, 0)
        analyst.drain()
    assert names(config) == ["good 1"]
    assert queue.stats().quarantined == 0


def test_a_state_that_must_be_opened_anew(config: Config, queue: QueueStore) -> None:
    """When DuckDB gives its file up, as it does on a full disk, the process ends and its successor applies the row."""
    queue.append([good(1)], NOON)
    with wiring._analyst(config, queue) as (analyst, _):
        failing_once(analyst._step, duckdb.FatalException("database has been invalidated"))
        with pytest.raises(duckdb.FatalException):
            analyst._turn()
    assert (queue.stats().rows, queue.stats().quarantined) == (1, 0)
    wiring.drain(config)
    assert names(config) == ["good 1"]


def failing_once(step: Any, fault: Exception) -> None:
    """Let the next application of rows fail at its end."""
    apply = step.apply

    def fail(*_: object, **__: object) -> None:
        step.apply = apply
        raise fault

    step.apply = fail


def test_applied_rows_are_released_later(config: Config, queue: QueueStore) -> None:
    """A release that the full disk refuses is made good when there is room, also with nothing new to apply."""
    queue.append([good(1)], NOON)
    with wiring._analyst(config, queue) as (analyst, _):
        release = analyst._release

        def refuse(_offset: int) -> None:
            analyst._release = release
            raise Overloaded("database or disk is full")

        analyst._release = refuse
        analyst._turn()
        assert queue.stats().rows == 1
        analyst._turn()
        assert queue.stats().rows == 0


@pytest.mark.parametrize(
    ("rehearse", "guilty"),
    [(well, False), (decoder_dies, True), (models_die, True), (says_what_is_wrong, False), (is_asked_to_end, False)],
)
def test_a_row_that_brings_the_process_down(queue: QueueStore, rehearse: Rehearse, *, guilty: bool) -> None:
    """After two deaths with the same row all is done with it elsewhere, alone; it is set aside if that dies too.

    One that does not is applied: others can be to blame for a death.
    """
    for number in range(3):
        queue.append([good(number)], NOON)
    rows = queue.read(0, 1 << 20)
    for _ in range(2):
        assert Caution(queue, rehearse).before(rows) == rows
    last = Caution(queue, rehearse)
    assert last.alert
    assert list(last.before(rows)) == ([] if guilty else rows[:1])
    assert queue.stats().quarantined == guilty
    last.after()
    last.rest()
    assert Caution(queue, rehearse).before(rows[1:]) == rows[1:]


TRIAL = """
import sys
sys.path.append(sys.argv[1])
from rehearsals import does_not_end
from weaklink_processor.analyst.caution import _survives
if __name__ == "__main__":
    _survives(does_not_end, [])
"""


def test_a_trial_ends_with_the_analyst(tmp_path: Path) -> None:
    """While it goes on the analyst's output is open, and whoever listens there does not learn of the analyst's end."""
    (tmp_path / "trial.py").write_text(TRIAL)
    tests = Path(rehearsals.__file__).parent
    with subprocess.Popen([sys.executable, tmp_path / "trial.py", tests], stdout=subprocess.PIPE) as analyst:
        assert analyst.stdout
        assert analyst.stdout.readline() == b"at work\n"
        analyst.kill()
        assert select.select([analyst.stdout], [], [], PATIENCE)[0], "the trial goes on"
        assert analyst.stdout.read() == b""


def test_an_orderly_end_is_no_death(queue: QueueStore) -> None:
    """A process that ended with nothing under way leaves no suspicion."""
    queue.append([good(1)], NOON)
    rows = queue.read(0, 1 << 20)
    for _ in range(4):
        caution = Caution(queue, decoder_dies)
        assert not caution.alert
        assert caution.before(rows) == rows
        caution.rest()


def test_the_poison_is_kept(config: Config, queue: QueueStore) -> None:
    """What was set aside is still in the file, byte for byte."""
    queue.append([NO_PROTOBUF], NOON)
    stored = queue._stored(0, 1)
    wiring.drain(config)
    with queue._connected() as connection:
        kept = connection.execute("SELECT offset, payload FROM quarantine").fetchall()
    assert kept == [(row.offset, row.payload) for row in stored]
