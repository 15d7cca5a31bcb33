"""The analyst's step on a data folder, one life of a process after the other, and rows for it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from otlp import payload, write
from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_analysis.recognition import Recogniser
from weaklink_analysis.views import create_statements
from weaklink_processor.analyst.state import State
from weaklink_processor.analyst.step import LAKE_KEYS, LAKE_SOUGHT, Sent, Step
from weaklink_processor.decode.batch import decode
from weaklink_processor.lake.lake import Lake
from weaklink_processor.queue.store import Row

NOW = datetime(2026, 9, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
RECOGNISER = Recogniser(duckdb.connect())


class Process:
    """One life of the analyst on a data folder."""

    def __init__(self, folder: Path, settings: Settings | None = None) -> None:
        chosen = settings or Settings()
        self.state = State.open(folder / "state.duckdb")
        self.step = Step(
            self.state,
            Engine(self.state.connection, chosen),
            Lake(folder, LAKE_KEYS, create_statements(chosen), LAKE_SOUGHT),
            queue_id="q",
            settings=chosen,
            sent=lambda: Sent(0, 0),
        )
        self.step.recover(NOW)

    def work(self, rows: Sequence[Row], now: datetime = NOW) -> None:
        """Apply the rows that are not applied yet, one a step, and evaluate."""
        for row in rows:
            if row.offset > self.step.offset:
                self.step.apply([row], RECOGNISER.recognise(decode(row.requests)), now, caught_up=True)
                self.step.settle(now)
                self.step.publish()
        self.step.tick(LATER)
        self.step.compact(now)

    def end(self) -> None:
        """Let go of the file."""
        self.step.close()
        self.state.close()


def rows() -> list[Row]:
    """Three queue rows: a chain in the wrong order, and a rewrite."""
    batches = [
        [write(1, 3, "action", 0.95, 3, parents=["diagnosis"]), write(2, 1, "other", 0.9, 1)],
        [write(1, 1, "triage", 0.3, 1), write(1, 2, "diagnosis", 0.85, 2, parents=["triage"])],
        [write(1, 1, "triage", 0.2, 1.5)],
    ]
    return [Row(offset, NOW, [payload(batch)]) for offset, batch in enumerate(batches, start=1)]
