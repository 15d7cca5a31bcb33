"""What the cookbook's questions take on a month of data, while the service is at work on it.

    python bench/month.py FOLDER/data
    python bench/cookbook.py FOLDER [--runs 21] [--only NAME ...] [--settle 90]

A service runs on the data and gets a trace five times a second. Each question is asked on a connection of its own each
time, as Grafana's plugin does after a publication; on one that is kept; and once by `weaklink sql`, a process.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

import duckdb
import grpc
import numpy as np

from downstream import METHOD
from machine import machine
from measured_service import Service as RunningService
from month_traces import ENVIRONMENTS, SERVICES, Service
from weaklink_analysis.cookbook import questions

RUNS = 21
PAUSE_SECONDS = 0.2
SETTLE_SECONDS = 90
"""What was left to be merged when the month was stored is merged by then, as on a service that has run for a while."""
PATIENCE_SECONDS = 30
WEAKLINK = (sys.executable, "-m", "weaklink_processor")


@contextmanager
def trickle(endpoint: str) -> Iterator[None]:
    """Send a trace to an OTLP/gRPC endpoint (HOST:PORT) now and then, as long as the block lasts."""
    services = [Service(name, environment, seed=time.time_ns()) for name in SERVICES for environment in ENVIRONMENTS]
    # Written anew in one run, which may name no agent, playbooks would outweigh the rest of a small month.
    for service in services:
        service.know_playbook()
    stop, rng = threading.Event(), Random(0)

    def send() -> None:
        with grpc.insecure_channel(endpoint) as channel:
            export = channel.unary_unary(METHOD, None, None)
            while not stop.wait(PAUSE_SECONDS):
                service = rng.choice(services)
                export(service.request(service.trace(time.time_ns())), timeout=PATIENCE_SECONDS)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield
    finally:
        stop.set()
        sender.join()


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the views as readers do."""
    with duckdb.connect(path, read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def milliseconds(work: Callable[[], object], runs: int) -> list[float]:
    """How long some runs take."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - began))
    return times


def at(share: float, times: Sequence[float]) -> float:
    """Return a quantile of times: the smallest of which at least this share is no larger."""
    return float(np.quantile(times, share, method="inverted_cdf"))


def asked(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    """Return the answer."""
    return connection.execute(sql).fetchall()


def anew(path: Path, sql: str) -> None:
    """Ask on a connection of its own."""
    with opened(path) as connection:
        asked(connection, sql)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--settle", type=float, default=SETTLE_SECONDS, help="seconds before the first question")
    chosen = parser.parse_args()
    data = chosen.folder / "data"
    path = data / "weaklink.duckdb"
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"load average {os.getloadavg()[0]:.1f}")
    print("                              new connection   kept connection  weaklink sql")
    print("question                         p50 ms p95 ms     p50 ms p95 ms            ms  rows")
    with RunningService(chosen.folder) as service, trickle(service.endpoint):
        time.sleep(chosen.settle)
        for one in questions():
            if chosen.only and one.name not in chosen.only:
                continue
            new = milliseconds(partial(anew, path, one.sql), chosen.runs)
            with opened(path) as connection:
                rows = len(asked(connection, one.sql))
                kept = milliseconds(partial(asked, connection, one.sql), chosen.runs)
            command = [*WEAKLINK, "sql", one.sql, "--data-dir", str(data)]
            (once,) = milliseconds(partial(subprocess.run, command, check=True, capture_output=True), 1)
            print(
                f"{one.name:28} {at(0.5, new):9.0f} {at(0.95, new):6.0f} {at(0.5, kept):10.0f} {at(0.95, kept):6.0f} "
                f"{once:13.0f} {rows:5}",
                flush=True,
            )


if __name__ == "__main__":
    main()
