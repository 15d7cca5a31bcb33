"""`weaklink serve` as it is measured: on an empty data folder, with its defaults but for WEAKLINK_ variables."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Self

import psutil

from usage import Usage
from weaklink_processor.sources import load_config
from weaklink_processor.wiring import open_catalogue

SAMPLE_SECONDS = 0.1
STOP_SECONDS = 30.0


class Service:
    """A running service: OTLP/gRPC on `endpoint`, its settings in `config`, what its processes use in `usage`."""

    def __init__(self, folder: Path, forward: str | None = None) -> None:
        self._log = folder / "log"
        data_dir = folder / "data"
        command = [sys.executable, "-m", "weaklink_processor", "serve", "--data-dir", str(data_dir)]
        command += ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", *(["--forward", forward] if forward else [])]
        with chdir(folder):  # where no weaklink.yaml is found by chance
            self.config = load_config(None, os.environ, {"--data-dir": data_dir})
        with self._log.open("w") as log:
            self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        self.endpoint = self._greeting()
        self.usage = Usage(psutil.Process(self._process.pid), self._name)
        self.usage.sample()

    def query(self, sql: str) -> int:
        """Return the one number that the catalogue answers now."""
        with open_catalogue(self.config) as catalogue:
            return int(catalogue.execute(sql).fetchall()[0][0])

    def wait(self, reached: Callable[[], bool], what: str, deadline: float, pause: float = SAMPLE_SECONDS) -> float:
        """Sample until it is so, and return the moment; SystemExit at the deadline (time.perf_counter())."""
        while not reached():
            if self.usage.ended:
                raise self._failure(f"these ended: {', '.join(self.usage.ended)}")
            if time.perf_counter() > deadline:
                raise self._failure(f"waited in vain for {what}")
            self.usage.sample()
            time.sleep(pause)
        return time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.stdout:
            self._process.stdout.close()

    def _name(self, process: psutil.Process) -> str:
        return "supervisor" if process.pid == self._process.pid else process.cmdline()[-1]

    def _failure(self, problem: str) -> SystemExit:
        """Return how to give up: with the end of the log."""
        return SystemExit(f"{problem}; the service's log ends:\n{self._log.read_text()[-4000:]}")

    def _greeting(self) -> str:
        """Return the gRPC endpoint once all is ready."""
        endpoint = ""
        for line in self._process.stdout or ():
            if found := re.search(r"OTLP/gRPC +http://(\S+)", line):
                endpoint = found[1]
            if " sql " in line:
                return endpoint
        raise self._failure("the service did not start")
