"""One life of the analyst's step on a data folder, for tests that need no processes."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Self

import duckdb

from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_analysis.recognition import Recogniser
from weaklink_analysis.views import create_statements
from weaklink_processor.analyst.state import State
from weaklink_processor.analyst.step import LAKE_KEYS, LAKE_SOUGHT, Step
from weaklink_processor.decode.batch import decode
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.retention import FOR_EVER, Retention
from weaklink_processor.queue.store import Row

RECOGNISER = Recogniser(duckdb.connect())


class Life:
    """A step that applies payloads, each as a queue row of its own."""

    def __init__(
        self,
        folder: Path,
        now: datetime,
        retention: Retention = FOR_EVER,
        count_departed: Callable[[str, int], None] = lambda *_: None,
    ) -> None:
        settings = Settings(quiet_seconds=0)
        self.state = State.open(folder / "state.duckdb")
        self.step = Step(
            self.state,
            Engine(self.state.connection, settings),
            Lake(folder, LAKE_KEYS, create_statements(settings), LAKE_SOUGHT),
            queue_id="q",
            settings=settings,
            sent=None,
            retention=retention,
            count_departed=count_departed,
        )
        self.step.recover(now)

    def receive(self, payloads: Iterable[bytes], at: datetime) -> None:
        """Apply rows that were received at that time, and judge what is due."""
        for payload in payloads:
            row = Row(self.step.offset + 1, at, [payload])
            self.step.apply([row], RECOGNISER.recognise(decode(row.requests)), at, caught_up=True)

    def settle(self, now: datetime) -> None:
        """Have all published, with what follows from that."""
        self.step.settle(now)
        self.step.publish()
        self.step.settle(now)
        self.step.publish()
        self.step.settle(now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.step.close()
        self.state.close()
