import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import psutil
import pytest

import supervised_child
from supervised_child import events
from turns import TIMED
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.supervise.child import ChildSpec, described
from weaklink_processor.supervise.supervisor import Pace, supervise

QUICK = Pace(first_delay=0.05, most_delay=0.2, healthy_after=30, drain=2)


class Running:
    """Children being supervised, for as long as the `async with` lasts."""

    def __init__(self, folder: Path, *behaviours: str) -> None:
        self.folder, self.ready, self.stop = folder, 0, asyncio.Event()
        settings = Config(data_dir=folder).model_dump_json()
        script = str(supervised_child.__file__)
        self._specs = [ChildSpec(name, (sys.executable, script, name), settings) for name in behaviours]

    async def __aenter__(self) -> Self:
        self.task = asyncio.create_task(supervise(self._specs, self.stop, self._count, QUICK))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop.set()
        await self.task

    def _count(self) -> None:
        self.ready += 1

    def pid(self, child: str) -> int:
        return events(self.folder, child)[-1][2]

    def starts(self, child: str) -> int:
        return sum(event == "start" for _, event, _ in events(self.folder, child))


async def until(true: Callable[[], bool], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110  what is waited for happens in other processes
            await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_children_run_until_told_and_end_in_order(tmp_path: Path) -> None:
    """All are ready once; at the end each is gone before the next is asked."""
    async with Running(tmp_path, "first", "second") as running:
        await until(lambda: running.ready == 1)
    assert [(child, event) for child, event, _ in events(tmp_path)][2:] == [("first", "end"), ("second", "end")]
    assert not any(psutil.pid_exists(pid) for _, _, pid in events(tmp_path))


@pytest.mark.anyio
async def test_a_line_that_is_no_message_ends_nothing(tmp_path: Path) -> None:
    """However long it is: a library may print as it likes, and what the child says behind it is heard."""
    async with Running(tmp_path, "verbose", "second") as running:
        await until(lambda: running.ready == 1)
    assert [(child, event) for child, event, _ in events(tmp_path)][2:] == [("verbose", "end"), ("second", "end")]


@pytest.mark.anyio
async def test_a_killed_child_is_restarted(tmp_path: Path) -> None:
    """SIGKILL of one child brings a new one, and does not touch the other."""
    async with Running(tmp_path, "first", "second") as running:
        await until(lambda: running.ready == 1)
        other = running.pid("second")
        os.kill(running.pid("first"), signal.SIGKILL)
        await until(lambda: running.starts("first") == 2)
        os.kill(running.pid("first"), signal.SIGKILL)
        await until(lambda: running.starts("first") == 3)
        assert running.pid("second") == other
    assert running.ready == 1
    assert (running.starts("first"), running.starts("second")) == (3, 1)


@pytest.mark.anyio
async def test_a_crashing_child_is_tried_again_and_again(tmp_path: Path) -> None:
    """A child that cannot stay up is restarted ever more slowly, and never announced as ready."""
    async with Running(tmp_path, "first", "crash") as running:
        await until(lambda: running.starts("crash") == 4)
    assert running.ready == 0


@pytest.mark.anyio
async def test_a_child_that_refuses_its_settings_stops_all(tmp_path: Path) -> None:
    """Exit code 2 before a child was ever ready ends everything with that child's message."""
    with pytest.raises(UsageError, match="port 4317 is taken"):
        async with Running(tmp_path, "first", "refuse") as running:
            await until(running.task.done)
    assert not any(psutil.pid_exists(pid) for _, _, pid in events(tmp_path))
    assert running.starts("refuse") == 1


@pytest.mark.anyio
async def test_exit_code_2_later_on_is_a_crash(tmp_path: Path) -> None:
    """Once a child was ready, its exit code 2 is one more reason to restart it."""
    async with Running(tmp_path, "refuse-later") as running:
        await until(lambda: running.ready == 1)
        os.kill(running.pid("refuse-later"), signal.SIGKILL)
        await until(lambda: running.starts("refuse-later") >= 3)


@TIMED
@pytest.mark.anyio
async def test_a_child_that_does_not_end_is_killed(tmp_path: Path) -> None:
    """The end is bounded; those that end in time are not cut short by one that does not."""
    async with Running(tmp_path, "stubborn", "second") as running:
        await until(lambda: running.ready == 1)
        begun = time.monotonic()
    assert time.monotonic() - begun < QUICK.drain + 1
    assert events(tmp_path)[-1][:2] == ("second", "end")
    assert not any(psutil.pid_exists(pid) for _, _, pid in events(tmp_path))


@pytest.mark.anyio
async def test_stopping_at_once_leaves_nothing(tmp_path: Path) -> None:
    """A stop that comes while children are being made leaves none of them."""
    mine = psutil.Process()
    before = set(mine.children())
    async with Running(tmp_path, "first", "second"):
        await asyncio.sleep(0)
    assert set(mine.children()) <= before


@pytest.mark.anyio
async def test_a_program_that_is_not_there_is_a_crash() -> None:
    """A child that cannot even be started is tried again."""
    stop = asyncio.Event()
    task = asyncio.create_task(supervise([ChildSpec("x", ("/nowhere",), "{}")], stop, lambda: None, QUICK))
    await asyncio.sleep(0.3)
    assert not task.done()
    stop.set()
    await task


def test_backoff() -> None:
    """Delays double up to a limit, and begin anew after a healthy life."""
    pace, delays = Pace(), [0.0]
    for lived in (0, 0, 29, 1, 1, 1, 1, 30, 1):
        delays.append(pace.next_delay(delays[-1], lived))
    assert delays[1:] == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2, 0.4]


@pytest.mark.parametrize(("code", "text"), [(1, "exit code 1"), (-9, "signal SIGKILL"), (-99, "signal 99")])
def test_an_end_is_described(code: int, text: str) -> None:
    """A log says by name which signal ended a child."""
    assert described(code) == text
