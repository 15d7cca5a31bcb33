"""A gate on the data folder of a service at work says what it has not seen judged."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from otlp import S, payload, read, write
from shell import weaklink
from weaklink_processor import wiring
from weaklink_processor.config import Config
from weaklink_processor.config.analysing import Analysis

JUDGED, WAITING = [write(1, 1, "a", 0.9), read(1, 2, "a", 0.9)], [write(2, 1, "b", 0.2), read(3, 1, "c", 0.2)]
NOTHING_TO_JUDGE = [S(4, 1, "memledger.memory.delete", attributes={"memledger.memory.operation": "delete"})]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a trace that is judged, two that wait, and one with nothing to judge."""
    data = tmp_path_factory.mktemp("gate")
    config = Config(data_dir=data, analysis=Analysis(quiet_period=3600))
    with wiring.open_queue(config) as queue:
        queue.append([payload(JUDGED)], datetime.now(UTC))
    wiring.drain(config)
    with wiring.open_queue(config) as queue:
        queue.append([payload([*WAITING, *NOTHING_TO_JUDGE])], datetime.now(UTC))
        with wiring._analyst(config, queue) as (analyst, _):
            analyst._turn()
            analyst._settle()
    return data


@pytest.mark.parametrize(
    ("selected", "waiting"),
    [((), 2), (("--trace-id", f"{2:032x}"), 1), (("--trace-id", f"{1:032x}"), 0), (("--environment", "none"), 0)],
)
def test_traces_that_wait_are_told(folder: Path, selected: tuple[str, ...], waiting: int) -> None:
    """On stderr, as far as they are selected: without them the verdict is about something else than was meant."""
    told = weaklink("gate", "--data-dir", folder, "--tier", "3", *selected).stderr.decode()
    assert told.endswith(f"not judged yet, since their quiet period is not over: {waiting} traces\n") is bool(waiting)
    assert ("not judged yet" in told) is bool(waiting)
