"""Named points between the steps of a span's path, at which a process of a service under test kills itself.

The test arms one point; the process that next comes by it often enough dies of SIGKILL there. Only the program
`tests/crashing.py` has these points: weaklink itself knows nothing of them.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

FOLDER_VARIABLE = "CRASH_STOPS"

RECEIVER = (
    "before queue.store.QueueStore.append",
    "after queue.store.QueueStore.append",  # committed, and not acknowledged
    "after queue.writer._answer",
)
"""`before` or `after`, and the function; in the order of the path."""

STEP = (
    "after analyst.caution.Caution.before",  # read, and noted
    "before analyst.step.Step.apply",  # recognised
    "before analyst.step.Engine.start",
    "before analyst.step.Engine.sift",
    "before lake.parts.PartWriter.write",
    "after lake.parts._write_rows",
    "before lake.parts.Path.rename",
    "before lake.parts.sync_folder",
    "before analyst.step.Engine.admit",
    "before analyst.step.Engine.absorb",
    "before analyst.step.Engine.evaluate",
    "before analyst.state.State.add_parts",
    "after analyst.state.State.add_parts",
    "after analyst.state.State.store_applied",
    "before the commit",
    "after the commit",
    "after analyst.caution.Caution.after",
    "after lake.catalogue.rows_sql",  # half a catalogue is written aside
    "after lake.lake.Lake.publish",
    "before queue.store.QueueStore.release",
    "after queue.store.QueueStore.release",
)

UPKEEP = (
    "before lake.lake.Lake.merge",
    "after lake.lake.Lake.merge",
    "before analyst.state.State.supersede",
    "after analyst.state.State.supersede",
    "after analyst.upkeep.Upkeep.adopt",
    "before lake.parts.PartWriter.remove",
    "after lake.parts.PartWriter.remove",
)

START = (
    "before analyst.step.Step.recover",
    "before analyst.state.State.renew_grace",
    "before lake.lake.Lake.sweep",
    "after lake.lake.Lake.sweep",
    "after analyst.step.Step.recover",
)

SENDING = (
    "before analyst.state.State.issue",
    "after analyst.state.State.issue",
    "after analyst.state.State.prune",
    "before emit.exporter.OtlpExporter.export",
    "before the outbox's progress",  # answered
    "after the outbox's progress",
    "before the forwarder's progress",
    "after the forwarder's progress",
)
"""Reached by a service that forwards."""

POINTS = {"receiver": RECEIVER, "analyst": (*STEP, *UPKEEP, *START, *SENDING)}
"""Of each process."""


class Stops:
    """The test's end: one point is armed at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._armed, self._aside = folder / "armed", folder / "aside"
        self._numbers = count()
        self.environment = {FOLDER_VARIABLE: str(folder)}

    def arm(self, point: str, passage: int = 1) -> None:
        """Whoever comes by this point for the n-th time from now on dies there."""
        self._aside.write_text(f"{point}\n{passage}\n{next(self._numbers)}")
        self._aside.rename(self._armed)

    @property
    def armed(self) -> bool:
        """Whether nobody has died of it yet."""
        return self._armed.exists()


class Watch:
    """The process's end."""

    def __init__(self) -> None:
        self._armed = Path(os.environ[FOLDER_VARIABLE]) / "armed"
        self._passages: Counter[str] = Counter()
        self._lock = threading.Lock()

    def stopping(
        self, name: str, function: Callable[P, T], sides: Sequence[str] = ("before", "after")
    ) -> Callable[P, T]:
        """The function with a point before it, after it, or both."""

        @wraps(function)
        def stopped(*args: P.args, **kwargs: P.kwargs) -> T:
            if "before" in sides:
                self.reach(f"before {name}")
            result = function(*args, **kwargs)
            if "after" in sides:
                self.reach(f"after {name}")
            return result

        return stopped

    def reach(self, point: str) -> None:
        """Die here, if it is time to."""
        try:
            armed = self._armed.read_text()
        except FileNotFoundError:
            return
        wanted, passage, _ = armed.split("\n")
        if wanted != point:
            return
        with self._lock:
            self._passages[armed] += 1
            if self._passages[armed] >= int(passage):
                self._armed.unlink(missing_ok=True)
                os.kill(os.getpid(), signal.SIGKILL)
