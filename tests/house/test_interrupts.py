"""Ctrl-C and SIGTERM while DuckDB is at work."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from covered import file_of
from gate.told import cascade
from shell import printed
from weaklink_processor import wiring
from weaklink_processor.config import Config

AMID = """
import os, signal, threading
from unittest.mock import patch
from weaklink_analysis.engine import Engine
from weaklink_analysis.gate.judging import judge
from weaklink_processor.cli import main

absorb, done = Engine.absorb, []

def stopped(execute):
    if not done:
        done.append(threading.Timer(0.2, os.kill, (os.getpid(), signal.{number})).start())
        execute("SELECT sum(hash(a)) FROM range(150_000_000) AS r(a)")

def absorbing(engine):
    stopped(engine._db.execute)
    absorb(engine)

def judging(catalogue, *others):
    stopped(catalogue.execute)
    return judge(catalogue, *others)

with patch({place!r}, {place_taker}):
    main()
"""
AMONG_MANY = """
import os, signal
from unittest.mock import patch
from weaklink_processor.analyst.step import Done
from weaklink_processor.cli import main

judged = []

def ticking(*_):
    judged.append(os.kill(os.getpid(), signal.SIGINT))
    if len(judged) > 1:
        os._exit(9)
    return Done(0, 0)  # and as many are due as before

with patch("weaklink_processor.analyst.step.Step.tick", ticking):
    main()
"""
ON_A_FULL_DISK = """
import errno, os, signal
from unittest.mock import patch
from weaklink_processor.analyst.step import Step
from weaklink_processor.cli import main

tried = []

def applying(*_, **__):
    tried.append(os.kill(os.getpid(), signal.SIGINT))
    if len(tried) > 1:
        os._exit(9)
    raise OSError(errno.ENOSPC, "No space left on device")

with patch("weaklink_processor.analyst.step.Step.apply", applying):
    main()
"""
ABSORB = "weaklink_analysis.engine.Engine.absorb", "absorbing"
JUDGE = "weaklink_processor.commands.gate.judge", "judging"


def stopped(place: tuple[str, str], number: str, *arguments: str | Path) -> tuple[int, str]:
    """Run a command that gets a signal amid a query at this place; its exit code and stderr."""
    program = AMID.format(place=place[0], place_taker=place[1], number=number)
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_ctrl_c_is_no_fault_of_the_spans(tmp_path: Path) -> None:
    """What a replay was at when it was stopped is analysed by the next command, and nothing is set aside."""
    file = file_of(tmp_path / "spans.binpb", cascade())
    code, said = stopped(ABSORB, "SIGINT", "replay", file, "--data-dir", tmp_path / "data")
    assert (code, said) == (130, "Aborted!\n")
    printed("replay", file, "--data-dir", tmp_path / "data")
    found = printed(
        "sql", "SELECT memory_id FROM memories ORDER BY ALL", "--data-dir", tmp_path / "data", "--format", "csv"
    )
    assert found.split() == ["memory_id", "action-1", "diagnosis-1", "triage-1"]


@pytest.mark.parametrize("place", [ABSORB, JUDGE], ids=["analysing", "judging"])
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_gate_that_is_stopped_gives_no_verdict(
    place: tuple[str, str], number: str, code: int, tmp_path: Path
) -> None:
    """The exit code is that of the signal, wherever in a query it comes: 1 would say that the gate failed."""
    ended, said = stopped(place, number, "gate", file_of(tmp_path / "spans.binpb", cascade()))
    assert (ended, said) == (code, "Aborted!\n" if number == "SIGINT" else "")


def test_a_replay_that_is_ended_has_done_what_it_was_at(tmp_path: Path) -> None:
    """SIGTERM, too, is heeded behind the step under way: a death in it would count against its rows."""
    file = file_of(tmp_path / "spans.binpb", cascade())
    assert stopped(ABSORB, "SIGTERM", "replay", file, "--data-dir", tmp_path / "data") == (-signal.SIGTERM, "")
    with wiring.open_queue(Config(data_dir=tmp_path / "data")) as queue:
        assert queue.progress(wiring.ANALYST) == queue.stats().last_offset == 1


def test_ctrl_c_does_not_wait_until_all_is_judged(tmp_path: Path) -> None:
    """Of more traces than are judged at once, those at hand are judged first, and no others."""
    arguments = "replay", file_of(tmp_path / "spans.binpb", cascade()), "--data-dir", tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", AMONG_MANY, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Aborted!\n")


def test_ctrl_c_ends_a_replay_that_has_no_room(tmp_path: Path) -> None:
    """It tries again until it can write, and no longer than whoever waits for it does."""
    arguments = "replay", file_of(tmp_path / "spans.binpb", cascade()), "--data-dir", tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "Aborted!")
