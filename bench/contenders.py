"""What is measured beside weaklink: how each is started, by its own documentation, and asked what it has.

Each runs on an empty folder, on ports of its own, and otherwise with its defaults.
"""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
import urllib3

from downstream import Tally, listening
from measured_service import Service
from usage import Usage

START_SECONDS = 120.0
STOP_SECONDS = 10.0
REST_SECONDS, BUSY = 2.0, 0.1
"""A program rests when it has used less CPU than that in so many seconds."""
TO_JUDGE = """
    SELECT count(*) FROM (
        SELECT DISTINCT trace_id FROM memory_operations EXCEPT SELECT trace_id FROM evaluations
    )
"""


@dataclass(frozen=True, slots=True)
class Running:
    """One that takes spans."""

    endpoint: str  # HOST:PORT for OTLP/gRPC, a URL for OTLP/HTTP
    usage: Usage
    found: Callable[[], int]  # spans, when asked
    headers: Mapping[str, str] = field(default_factory=dict)
    settled: Callable[[], bool] = lambda: True  # whether all is done that comes after storing


@dataclass(frozen=True, slots=True)
class Contender:
    """One that can be started in a folder; `missing` says why not, if so."""

    start: Callable[[Path], AbstractContextManager[Running]]
    missing: str | None = None
    is_slow: bool = False  # gets a short load


def contenders(collector: str, phoenix: str, mlflow: str) -> dict[str, Contender]:
    """Return all of them, given what each is called on the command line."""
    return {
        "weaklink": Contender(_weaklink),
        "Collector": Contender(partial(_collector, collector, "none"), _missing(collector)),
        "Collector, gzip": Contender(partial(_collector, collector, "gzip"), _missing(collector)),
        "Phoenix": Contender(partial(_phoenix, phoenix), _missing(phoenix), is_slow=True),
        "MLflow": Contender(partial(_mlflow, mlflow), _missing(mlflow), is_slow=True),
    }


def _missing(program: str) -> str | None:
    return None if shutil.which(program) else f"there is no {program}"


@contextmanager
def _weaklink(folder: Path) -> Iterator[Running]:
    with Service(folder) as service:
        yield Running(
            service.endpoint,
            service.usage,
            found=lambda: service.query("SELECT count(*) FROM spans"),
            settled=lambda: not service.query(TO_JUDGE),
        )


@contextmanager
def _collector(program: str, compression: str, folder: Path) -> Iterator[Running]:
    """OTLP in, OTLP out to a server that only counts; a full queue holds up senders instead of refusing them."""
    endpoint = f"127.0.0.1:{_free_port()}"
    tally = Tally()
    with listening(tally.take) as sink:
        exporter = {
            "endpoint": sink,
            "tls": {"insecure": True},
            "compression": compression,
            "sending_queue": {"block_on_overflow": True},
        }
        config = {
            "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": endpoint, "max_recv_msg_size_mib": 64}}}},
            "exporters": {"otlp_grpc": exporter},
            "service": {
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlp_grpc"]}},
            },
        }
        path = folder / "config.yaml"
        path.write_text(json.dumps(config))
        with _process([program, "--config", str(path)], folder, {}, lambda: _listens(endpoint)) as usage:
            yield Running(endpoint, usage, found=lambda: tally.spans)


@contextmanager
def _phoenix(program: str, folder: Path) -> Iterator[Running]:
    """`phoenix serve`, its database the SQLite file that it makes by default."""
    web, grpc = _free_port(), _free_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(web),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    ready = partial(_answers, f"http://127.0.0.1:{web}/healthz")
    with _process([program, "serve"], folder, settings, ready) as usage:
        yield Running(f"127.0.0.1:{grpc}", usage, found=partial(_rows, folder / "phoenix.db"))


@contextmanager
def _mlflow(program: str, folder: Path) -> Iterator[Running]:
    """`mlflow server`, its database the SQLite file that it makes by default."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    settings = {"MLFLOW_DISABLE_TELEMETRY": "true"}
    command = [program, "server", "--host", "127.0.0.1", "--port", str(port)]
    with _process(command, folder, settings, partial(_answers, f"{url}/health")) as usage:
        headers = {"x-mlflow-experiment-id": "0"}
        yield Running(f"{url}/v1/traces", usage, partial(_rows, folder / "mlflow.db"), headers)


@contextmanager
def _process(
    command: Sequence[str], folder: Path, settings: Mapping[str, str], ready: Callable[[], bool]
) -> Iterator[Usage]:
    """Run a command, and all that it starts, from when it is ready."""
    log = folder / "log"
    # Programs of its own virtual environment come first, as they would in its shell.
    beside = str(Path(shutil.which(command[0]) or command[0]).parent)
    environment = os.environ | settings | {"PATH": os.pathsep.join((beside, os.environ.get("PATH", "")))}
    environment.pop("PYTHONPATH", None)
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    usage = Usage(psutil.Process(process.pid))
    try:
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{command[0]} did not start; its log ends:\n{log.read_text()[-4000:]}")
            time.sleep(0.2)
        _rest(usage, deadline)
        yield usage
    finally:
        started = usage.root.children(recursive=True) if process.poll() is None else []
        process.terminate()
        _, left = psutil.wait_procs([usage.root, *started], STOP_SECONDS)
        for each in left:
            each.kill()
        process.wait()


def _rest(usage: Usage, deadline: float) -> None:
    """Wait until a program that answers has done what it does at its start, some of it in processes of their own."""
    before = -BUSY
    while (used := sum(usage.cpu_seconds().values())) - before >= BUSY and time.monotonic() < deadline:
        before = used
        time.sleep(REST_SECONDS)


def _rows(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        return int(connection.execute("SELECT count(*) FROM spans").fetchone()[0])


def _answers(url: str) -> bool:
    try:
        return urllib3.request("GET", url, timeout=5, retries=False).status == 200  # noqa: PLR2004
    except urllib3.exceptions.HTTPError:
        return False


def _listens(endpoint: str) -> bool:
    host, port = endpoint.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
