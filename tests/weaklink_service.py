"""`weaklink serve` as a real process, for tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import duckdb
import psutil

PATIENCE = 60.0
"""Seconds that anything may take on a busy machine before a test gives up."""

TABLES = (
    "spans",
    "memory_operations",
    "memory_versions",
    "memories",
    "derivations",
    "decisions",
    "evaluations",
    "evaluation_checks",
    "confidence_gating",
    "findings",
)
SENT = """
    evaluation_history AS h
    WHERE h.scope <> 'session' AND (h.score IS NOT NULL OR EXISTS (
        FROM evaluation_history AS e
        WHERE (e.scope, e.trace_id, e.span_id, e.rubric) = (h.scope, h.trace_id, h.span_id, h.rubric)
            AND e.score IS NOT NULL AND e.revision < h.revision
    ))
"""
"""The revisions that go downstream."""

ARRIVAL_COLUMNS = {"revision", "evaluated_at"}
"""What may depend on when spans arrived; everything else is a function of which spans arrived."""


Publication = tuple[int, int]
"""The file of one, and when it was written."""


def publication(data_dir: Path) -> Publication | None:
    """What readers see now: each publication is a new file in place of the one before."""
    try:
        file = (data_dir / "weaklink.duckdb").stat()
    except FileNotFoundError:
        return None
    return file.st_ino, file.st_mtime_ns


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
    """Return as soon as the condition holds."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience:.0f} s in vain for {what}")
        time.sleep(0.05)


class Service:
    """A running service on ports of its own."""

    def __init__(
        self,
        data_dir: Path,
        forward: str | None = None,
        settings: Mapping[str, str] | None = None,
        program: Sequence[str] = ("-m", "weaklink_processor"),
    ) -> None:
        self.data_dir = data_dir
        self._program = program
        self.grpc, self.http = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self._forward = ["--forward", forward] if forward else []
        outside = {name: value for name, value in os.environ.items() if not name.startswith("WEAKLINK_")}
        self._environment = (
            outside
            | {
                "WEAKLINK_ANALYSIS__QUIET_PERIOD": "1",
                "WEAKLINK_ANALYSIS__PUBLISH_INTERVAL": "0.2",
                "WEAKLINK_FORWARD__RETRY_ON_FAILURE__INITIAL_INTERVAL": "0.2",
            }
            | dict(settings or {})
        )
        self._process: subprocess.Popen[str] | None = None
        self._counted: dict[str, tuple[Publication | None, int]] = {}
        """By relation: of which publication, and how many rows."""
        self.log = data_dir.with_suffix(".log")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and return when it is ready."""
        command = [sys.executable, *self._program, "serve", "--data-dir", str(self.data_dir)]
        command += ["--grpc", self.grpc, "--http", self.http, *self._forward]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                command, env=self._environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.greeting = self._read_greeting()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal; its exit code."""
        if self._process is None:
            return 0
        self._process.send_signal(number)
        code = self._process.wait(PATIENCE)
        assert self._process.stdout
        self._process.stdout.close()
        self._process = None
        return code

    def child(self, name: str) -> psutil.Process | None:
        """The process of the receiver or the analyst, if it is there just now."""
        assert self._process
        for process in psutil.Process(self._process.pid).children():
            try:
                if name in process.cmdline():
                    return process
            except psutil.NoSuchProcess:
                continue
        return None

    def kill(self, name: str) -> None:
        """SIGKILL for the receiver or the analyst, if it is there just now."""
        if process := self.child(name):
            process.send_signal(signal.SIGKILL)

    def kill_all(self) -> None:
        """SIGKILL for the whole service: no child has the time to end in order; `start` starts it again."""
        assert self._process
        children = psutil.Process(self._process.pid).children(recursive=True)
        for child in children:  # before the parent, from whose end they would learn that they must stop
            with suppress(psutil.NoSuchProcess):
                child.kill()
        self.stop(signal.SIGKILL)
        assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []

    def kill_supervisor(self) -> None:
        """SIGKILL for the parent alone, and return when its children have noticed and ended in order."""
        assert self._process
        children = psutil.Process(self._process.pid).children()
        self.stop(signal.SIGKILL)
        assert psutil.wait_procs(children, PATIENCE)[1] == []

    def query(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[tuple[object, ...]]:
        """Rows, as any reader in another process sees them now."""
        with duckdb.connect(str(self.data_dir / "weaklink.duckdb"), read_only=True) as connection:
            return connection.execute(sql, parameters or {}).fetchall()

    def count(self, relation: str) -> int:
        """How many rows there are now; 0 before anything was published.

        Who polls asks DuckDB only once a publication: an answer costs 30 ms of CPU.
        """
        try:
            now = publication(self.data_dir)
            if relation not in self._counted or self._counted[relation][0] != now:
                self._counted[relation] = now, int(str(self.query(f"SELECT count(*) FROM {relation}")[0][0]))
            return self._counted[relation][1]
        except duckdb.IOException:
            return 0

    def _read_greeting(self) -> str:
        assert self._process
        assert self._process.stdout
        lines = []
        for line in self._process.stdout:
            lines.append(line)
            if " sql " in line:
                return "".join(lines)
        raise AssertionError(f"it ended before it was ready:\n{self.log.read_text()}")


def tables(data_dir: Path) -> dict[str, list[tuple[object, ...]]]:
    """Whole tables, in an order of their own, without what depends on arrival."""
    with duckdb.connect(str(data_dir / "weaklink.duckdb"), read_only=True) as connection:
        return {name: _rows(connection, name) for name in TABLES}


def _rows(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[object, ...]]:
    columns = [name for (name, *_) in connection.execute(f"DESCRIBE {table}").fetchall()]
    chosen = ", ".join(name for name in columns if name not in ARRIVAL_COLUMNS)
    return sorted(connection.execute(f"SELECT {chosen} FROM {table}").fetchall(), key=repr)
