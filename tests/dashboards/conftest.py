"""A month of data with a service at work on it, and the modules that make both.

WEAKLINK_MONTH: how many spans the month has. WEAKLINK_MONTH_FOLDER: where it is, or is made and left.
"""

import importlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from sink import OtlpSink
from weaklink_service import Service, free_port, wait_until

ROOT = Path(__file__).parents[2]
FOLDERS = [str(ROOT / "bench"), str(ROOT / "docker" / "grafana")]

# The folders do not stay on the path: bench has a decode.py, and so have the tests a folder of that name.
sys.path[:0] = FOLDERS
for module in ("cookbook", "month", "make"):
    importlib.import_module(module)
del sys.path[: len(FOLDERS)]

from cookbook import SETTLE_SECONDS, trickle  # noqa: E402
from month import make  # noqa: E402

SPANS = int(os.environ.get("WEAKLINK_MONTH", "8000"))
FOLDER = os.environ.get("WEAKLINK_MONTH_FOLDER")
WHOLE = 5_000_000
# Others than the month was made with would have all of it judged anew.
SETTINGS = {"WEAKLINK_ANALYSIS__QUIET_PERIOD": "5", "WEAKLINK_ANALYSIS__PUBLISH_INTERVAL": "1"}
PROMETHEUS = "WEAKLINK_TELEMETRY__METRICS__PROMETHEUS__ENDPOINT"


@dataclass(frozen=True)
class Served:
    """A month, and the service on it."""

    service: Service
    metrics: str  # HOST:PORT

    @property
    def path(self) -> Path:
        return self.service.data_dir / "weaklink.duckdb"


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Spans keep arriving, and the first of them are judged; what is left to be merged of a whole month is."""
    data = Path(FOLDER) if FOLDER else tmp_path_factory.mktemp("month") / "data"
    made = make(data, SPANS, sittings=2 if SPANS < WHOLE else 0)
    assert made.days_done == made.days
    metrics = f"127.0.0.1:{free_port()}"
    with ExitStack() as stack:
        sink = stack.enter_context(OtlpSink())
        service = stack.enter_context(Service(data, sink.endpoint, SETTINGS | {PROMETHEUS: metrics}))
        before = service.count("evaluations")
        stack.enter_context(trickle(service.grpc))
        wait_until(lambda: service.count("evaluations") > before, "the evaluation of what arrives")
        time.sleep(SETTLE_SECONDS if SPANS >= WHOLE else 0)
        yield Served(service, metrics)
