"""What the whole service takes: spans/s acknowledged and analysed, CPU, memory and latency.

    python bench/ingest.py [--seconds 10] [--rate 50000] [--spans-per-request 512] [--in-flight 8] [--forward] [--json]

Starts `weaklink serve` on an empty data folder, sends it prepared requests over OTLP/gRPC from another process, and
waits until every span is analysed and every trace judged. Exit code 1 when the catalogue then holds another number of
spans than was acknowledged, or the sink got fewer.
"""

import argparse
import json
import multiprocessing
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

import grpc
import psutil
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from load import METHOD, Plan, Sent, offer
from weaklink_processor.config import Config
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.wiring import ANALYST, QUEUE_FILE, open_catalogue

SAMPLE_SECONDS = 0.1
JUDGED_SECONDS = 1.0  # between two looks at the catalogue, which cost the service some of its cores
STOP_SECONDS = 30.0
MILLION = 1_000_000
LIBRARIES = ("duckdb", "pyarrow", "grpcio")

EXPECTED_TRACES = "SELECT count(DISTINCT trace_id) FROM memory_operations"
JUDGED_TRACES = "SELECT count(DISTINCT trace_id) FROM evaluations"
SPANS = "SELECT count(*) FROM spans"


@dataclass(frozen=True, slots=True)
class Report:
    """The figures. CPU is that of the service alone, from the first request until every trace is judged."""

    machine: dict[str, str | int]
    plan: Plan
    spans_acknowledged: int
    spans_refused: int
    refusals: dict[str, int]
    spans_in_catalogue: int
    spans_forwarded: int | None
    bytes_per_span: float
    acknowledged_per_second: float
    analysed_per_second: float  # from the first request until the last span is applied and published
    analysed_after_seconds: float  # the same moment, since the last request was acknowledged
    forwarded_per_second: float | None
    traces_judged: int
    judged_after_seconds: float
    latency_ms: dict[str, float]
    cpu_seconds_per_million: dict[str, float]  # by process
    peak_rss_mib: dict[str, float]  # by process
    generator_cpu_seconds_per_million: float

    @property
    def lost(self) -> bool:
        """Whether the service has other spans than it acknowledged, or forwarded fewer."""
        forwarded = self.spans_acknowledged if self.spans_forwarded is None else self.spans_forwarded
        return self.spans_in_catalogue != self.spans_acknowledged or forwarded < self.spans_acknowledged


class Service:
    """A running `weaklink serve`, and what its processes have used."""

    def __init__(self, folder: Path, forward: str | None) -> None:
        self.data_dir = folder / "data"
        self._log = folder / "log"
        command = [sys.executable, "-m", "weaklink_processor", "serve", "--data-dir", str(self.data_dir)]
        command += ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", *(["--forward", forward] if forward else [])]
        with self._log.open("w") as log:
            # In its own folder, so that no weaklink.yaml is found by chance.
            self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        self.endpoint = self._greeting()
        supervisor = psutil.Process(self._process.pid)
        self._processes = {"supervisor": supervisor} | {each.cmdline()[-1]: each for each in supervisor.children()}
        self.peak_rss = dict.fromkeys(self._processes, 0)

    def sample(self) -> None:
        """Look at the memory of each process."""
        for name, process in self._processes.items():
            self.peak_rss[name] = max(self.peak_rss[name], process.memory_info().rss)

    def cpu_seconds(self) -> dict[str, float]:
        """Return what each process has used so far, without its children."""
        times = {name: process.cpu_times() for name, process in self._processes.items()}
        return {name: used.user + used.system for name, used in times.items()}

    def query(self, sql: str) -> int:
        """Return the one number that the catalogue answers now."""
        with open_catalogue(Config(data_dir=self.data_dir)) as catalogue:
            return int(catalogue.execute(sql).fetchall()[0][0])

    def wait(self, reached: Callable[[], bool], what: str, deadline: float, pause: float = SAMPLE_SECONDS) -> float:
        """Sample until it is so, and return the moment; SystemExit at the deadline (time.perf_counter())."""
        while not reached():
            if time.perf_counter() > deadline:
                raise self.failure(f"waited in vain for {what}")
            self.sample()
            time.sleep(pause)
        return time.perf_counter()

    def failure(self, problem: str) -> SystemExit:
        """Return how to give up: with the end of the log."""
        return SystemExit(f"{problem}; the service's log ends:\n{self._log.read_text()[-4000:]}")

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

    def _greeting(self) -> str:
        """Return the gRPC endpoint once all is ready."""
        endpoint = ""
        for line in self._process.stdout or ():
            if found := re.search(r"OTLP/gRPC +http://(\S+)", line):
                endpoint = found[1]
            if " sql " in line:
                return endpoint
        raise self.failure("the service did not start")


class Sink:
    """An OTLP/gRPC server that counts the spans it is sent, by instrumentation scope."""

    def __init__(self) -> None:
        self.spans = Counter[str]()
        self._lock = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(4))
        handler = grpc.unary_unary_rpc_method_handler(self._export)
        service, method = METHOD.strip("/").split("/")
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
        self.endpoint = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def close(self) -> None:
        """Go away."""
        self._server.stop(grace=0).wait()

    def _export(self, request: bytes, _: grpc.ServicerContext) -> bytes:
        for resource_spans in ExportTraceServiceRequest.FromString(request).resource_spans:
            for scope_spans in resource_spans.scope_spans:
                with self._lock:
                    self.spans[scope_spans.scope.name] += len(scope_spans.spans)
        return b""


@contextmanager
def generator(plan: Plan) -> Iterator[Connection]:
    """The generator process, its requests prepared; sent anything, it begins, and answers with Sent."""
    spawn = multiprocessing.get_context("spawn")
    control, far_end = spawn.Pipe()
    process = spawn.Process(target=offer, args=(plan, far_end), daemon=True)
    process.start()
    far_end.close()
    control.recv()
    try:
        yield control
    finally:
        process.terminate()
        process.join()


def measure(service: Service, plan: Plan, sink: Sink | None) -> Report:
    """Send, wait for all that follows, and return the figures."""
    with generator(plan) as control:
        before = service.cpu_seconds()
        control.send("begin")
        deadline = time.perf_counter() + 60 + 10 * plan.seconds
        service.wait(control.poll, "the generator", deadline)
        sent: Sent = control.recv()
    with closing(QueueStore.open(service.data_dir / QUEUE_FILE, max_bytes=sys.maxsize)) as queue:
        last = queue.stats().last_offset
        analysed = service.wait(lambda: queue.progress(ANALYST) >= last, "the analyst", deadline)
        forwarded = service.wait(lambda: min(queue.stats().consumers.values()) >= last, "forwarding", deadline)
    traces = service.query(EXPECTED_TRACES)
    judged = service.wait(lambda: service.query(JUDGED_TRACES) >= traces, "evaluations", deadline, JUDGED_SECONDS)
    if sink:
        service.wait(lambda: sink.spans["weaklink"] >= traces, "forwarded evaluations", deadline)
    used = {name: seconds - before[name] for name, seconds in service.cpu_seconds().items()}
    millions = max(sent.acknowledged, 1) / MILLION
    return Report(
        machine=machine(),
        plan=plan,
        spans_acknowledged=sent.acknowledged,
        spans_refused=sent.refused,
        refusals=sent.refusals,
        spans_in_catalogue=service.query(SPANS),
        spans_forwarded=sink.spans["bench"] if sink else None,
        bytes_per_span=sent.bytes_per_span,
        acknowledged_per_second=sent.acknowledged / (sent.ended - sent.begun),
        analysed_per_second=sent.acknowledged / (analysed - sent.begun),
        analysed_after_seconds=analysed - sent.ended,
        forwarded_per_second=sent.acknowledged / (forwarded - sent.begun) if sink else None,
        traces_judged=traces,
        judged_after_seconds=judged - sent.ended,
        latency_ms=sent.latency_ms,
        cpu_seconds_per_million={name: seconds / millions for name, seconds in used.items()},
        peak_rss_mib={name: peak / 2**20 for name, peak in service.peak_rss.items()},
        generator_cpu_seconds_per_million=sent.cpu_seconds / millions,
    )


def machine() -> dict[str, str | int]:
    """Say what the figures were taken on."""
    return {
        "cpu": _cpu_model(),
        "cores": psutil.cpu_count() or 0,
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def _cpu_model() -> str:
    information = Path("/proc/cpuinfo")
    found = (
        re.search(r"^model name\s*:\s*(.+)$", information.read_text(), re.MULTILINE) if information.exists() else None
    )
    return found[1] if found else platform.processor() or platform.machine()


def show(report: Report) -> None:
    """Print the figures for a reader."""
    plan, latency = report.plan, report.latency_ms
    offered = f"{plan.rate:,.0f} spans/s offered" if plan.rate else "as fast as acknowledged"
    print(", ".join(f"{name} {value}" for name, value in report.machine.items()))
    print(f"{plan.seconds:g} s {offered}, {plan.in_flight} requests of {plan.spans_per_request} spans in flight")
    print(f"acknowledged {report.acknowledged_per_second:>12,.0f} spans/s   {report.bytes_per_span:.0f} bytes a span")
    after = f"the last {report.analysed_after_seconds:.1f} s after the load"
    print(f"analysed     {report.analysed_per_second:>12,.0f} spans/s, {after}")
    if report.forwarded_per_second is not None:
        print(f"forwarded    {report.forwarded_per_second:>12,.0f} spans/s")
    print(
        f"judged       {report.traces_judged:>12,} traces, the last {report.judged_after_seconds:.1f} s after the load"
    )
    print("latency      " + "   ".join(f"{name} {value:.1f} ms" for name, value in latency.items()))
    cpu = report.cpu_seconds_per_million
    print(f"CPU-s per million spans {sum(cpu.values()):.2f} = {_by_process(cpu, '.2f')}")
    print(f"peak RSS in MiB {_by_process(report.peak_rss_mib, '.0f')}")
    print(f"generator {report.generator_cpu_seconds_per_million:.2f} CPU-s per million spans")
    print(f"spans: {report.spans_acknowledged:,} acknowledged, {report.spans_in_catalogue:,} in the catalogue")
    if report.spans_forwarded is not None:
        print(f"       {report.spans_forwarded:,} forwarded")
    if report.spans_refused:
        print(f"       {report.spans_refused:,} refused: {report.refusals}")


def _by_process(figures: dict[str, float], form: str) -> str:
    return " + ".join(f"{name} {value:{form}}" for name, value in figures.items())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, help="spans a second; default: as fast as they are acknowledged")
    parser.add_argument("--spans-per-request", type=int, default=512)
    parser.add_argument("--in-flight", type=int, default=8, help="calls at a time")
    parser.add_argument("--forward", action="store_true", help="forward to a sink, which takes some of the cores")
    parser.add_argument(
        "--folder", type=Path, help="where the data folder is made; default: the system's temporary one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weaklink-bench-", dir=chosen.folder) as folder, ExitStack() as stack:
        sink = stack.enter_context(closing(Sink())) if chosen.forward else None
        service = stack.enter_context(Service(Path(folder).absolute(), sink.endpoint if sink else None))
        plan = Plan(service.endpoint, chosen.seconds, chosen.rate, chosen.spans_per_request, chosen.in_flight)
        try:
            report = measure(service, plan, sink)
        except psutil.NoSuchProcess as gone:
            raise service.failure("a process of the service died") from gone
    print(json.dumps(asdict(report))) if chosen.json else show(report)
    sys.exit(report.lost)


if __name__ == "__main__":
    main()
