"""Tests run beside each other, on as many workers as there are cores; one that is marked `alone` runs beside none.

What it measures would else be what its neighbours do. Each test holds the room, that one has it for itself; the door
keeps newcomers out while it waits.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

TIMED = pytest.mark.flaky(reruns=3, only_rerun=["monotonic"])
"""For a test that asserts what `time.monotonic()` says: others on the machine can only add to that, so the best of few
runs counts. Of its other assertions, which do not name the clock, none is tried again."""

FOLDER = Path(tempfile.gettempdir()) / f"weaklink-tests-{os.getuid()}"
WITHIN = "TEST_WITHIN_ANOTHER"
"""Set for a pytest that a test starts: it is part of that test's turn."""


@contextmanager
def turn(*, alone: bool) -> Iterator[None]:
    """Wait for what has to end first, and hold up what has to wait."""
    if WITHIN in os.environ:
        yield
        return
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    way = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with (FOLDER / "room").open("a") as room:
        with (FOLDER / "door").open("a") as door:
            fcntl.flock(door, way)
            fcntl.flock(room, way)
        os.environ[WITHIN] = "1"
        try:
            yield
        finally:
            del os.environ[WITHIN]
