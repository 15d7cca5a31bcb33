"""What the whole service takes: spans/s acknowledged and analysed, CPU, memory and latency.

    python bench/ingest.py [--seconds 10] [--rate 50000] [--spans-per-request 512] [--in-flight 8] [--forward] [--json]

Starts `weaklink serve` on an empty data folder, sends it prepared requests over OTLP/gRPC from another process, and
waits until every span is analysed and every trace judged. Exit code 1 when the catalogue then holds another number of
spans than was acknowledged, or the sink got fewer.
"""

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

from downstream import Verdicts, listening
from generator import Plan, generator
from latency import Latency, latency
from machine import MILLION, machine
from measured_service import Service
from usage import Growth
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.wiring import ANALYST, QUEUE_FILE

JUDGED_SECONDS = 1.0  # between two looks at the catalogue, which cost the service some of its cores
LOAD_SCOPE = "bench"

EXPECTED_TRACES = "SELECT count(DISTINCT trace_id) FROM memory_operations"
JUDGED_TRACES = "SELECT count(DISTINCT trace_id) FROM evaluations"
TOLD_TRACES = "SELECT count(DISTINCT trace_id) FROM evaluation_history WHERE scope = 'trace' AND score IS NOT NULL"
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
    requests_per_second: float
    analysed_per_second: float  # from the first request until the last span is applied and published
    analysed_after_seconds: float  # the same moment, since the last request was acknowledged
    forwarded_per_second: float | None
    traces_judged: int
    judged_after_seconds: float
    latency_ms: dict[str, float]
    verdicts: Latency | None
    cpu_seconds_per_million: dict[str, float]  # by process
    peak_rss_mib: dict[str, float]  # by process
    rss_mib: Growth  # while it was sent
    generator_cpu_seconds_per_million: float

    @property
    def lost(self) -> bool:
        """Whether the service has other spans than it acknowledged, or forwarded fewer."""
        forwarded = self.spans_acknowledged if self.spans_forwarded is None else self.spans_forwarded
        return self.spans_in_catalogue != self.spans_acknowledged or forwarded < self.spans_acknowledged


def measure(service: Service, plan: Plan, sink: Verdicts | None) -> Report:
    """Send, wait for all that follows, and return the figures."""
    usage = service.usage
    with generator(plan) as load:
        before = usage.cpu_seconds()
        load.begin()
        deadline = time.perf_counter() + 60 + 10 * plan.seconds
        service.wait(load.is_done, "the generator", deadline)
        sent = load.sent()
        with closing(QueueStore.open(service.config.data_dir / QUEUE_FILE, max_bytes=sys.maxsize)) as queue:
            last = queue.stats().last_offset
            analysed = service.wait(lambda: queue.progress(ANALYST) >= last, "the analyst", deadline)
            forwarded = service.wait(lambda: min(queue.stats().consumers.values()) >= last, "forwarding", deadline)
        traces = service.query(EXPECTED_TRACES)
        judged = service.wait(lambda: service.query(JUDGED_TRACES) >= traces, "evaluations", deadline, JUDGED_SECONDS)
        if sink:
            told = service.query(TOLD_TRACES)
            service.wait(lambda: sink.traces() >= told, "forwarded evaluations", deadline)
        used = {name: seconds - before[name] for name, seconds in usage.cpu_seconds().items()}
        quiet = service.config.analysis.quiet_period
        verdicts = latency(load.ended(), sink, quiet) if sink else None
    millions = max(sent.acknowledged, 1) / MILLION
    return Report(
        machine=machine(),
        plan=plan,
        spans_acknowledged=sent.acknowledged,
        spans_refused=sent.refused,
        refusals=sent.refusals,
        spans_in_catalogue=service.query(SPANS),
        spans_forwarded=sink.spans[LOAD_SCOPE] if sink else None,
        bytes_per_span=sent.bytes_per_span,
        acknowledged_per_second=sent.acknowledged / (sent.ended - sent.begun),
        requests_per_second=sent.requests / (sent.ended - sent.begun),
        analysed_per_second=sent.acknowledged / (analysed - sent.begun),
        analysed_after_seconds=analysed - sent.ended,
        forwarded_per_second=sent.acknowledged / (forwarded - sent.begun) if sink else None,
        traces_judged=traces,
        judged_after_seconds=judged - sent.ended,
        latency_ms=sent.latency_ms,
        verdicts=verdicts,
        cpu_seconds_per_million={name: seconds / millions for name, seconds in used.items()},
        peak_rss_mib={name: peak / 2**20 for name, peak in usage.peak_rss.items()},
        rss_mib=usage.growth(sent.begun, sent.ended),
        generator_cpu_seconds_per_million=sent.cpu_seconds / millions,
    )


def show(report: Report) -> None:
    """Print the figures for a reader."""
    plan, latency = report.plan, report.latency_ms
    offered = f"{plan.rate:,.0f} spans/s offered" if plan.rate else "as fast as acknowledged"
    print(", ".join(f"{name} {value}" for name, value in report.machine.items()))
    print(f"{plan.seconds:g} s {offered}, {plan.in_flight} requests of {plan.spans_per_request} spans in flight")
    print(
        f"acknowledged {report.acknowledged_per_second:>12,.0f} spans/s   {report.requests_per_second:,.0f} requests/s"
    )
    after = f"the last {report.analysed_after_seconds:.1f} s after the load"
    print(f"analysed     {report.analysed_per_second:>12,.0f} spans/s, {after}")
    if report.forwarded_per_second is not None:
        print(f"forwarded    {report.forwarded_per_second:>12,.0f} spans/s")
    print(
        f"judged       {report.traces_judged:>12,} traces, the last {report.judged_after_seconds:.1f} s after the load"
    )
    print("latency      " + "   ".join(f"{name} {value:.1f} ms" for name, value in latency.items()))
    if report.verdicts:
        print(f"verdicts     {report.verdicts}")
    cpu = report.cpu_seconds_per_million
    print(f"CPU-s per million spans {sum(cpu.values()):.2f} = {_by_process(cpu, '.2f')}")
    print(f"peak RSS in MiB {_by_process(report.peak_rss_mib, '.0f')}")
    early, late = report.rss_mib.first_third, report.rss_mib.last_third
    flat = "flat" if report.rss_mib.is_flat else "NOT flat"
    print(f"RSS in MiB while sending: first third {early:.0f}, last third {late:.0f} (medians): {flat}")
    print(f"generator {report.generator_cpu_seconds_per_million:.2f} CPU-s per million spans")
    print(
        f"spans: {report.spans_acknowledged:,} acknowledged, {report.spans_in_catalogue:,} in the catalogue, "
        f"{report.bytes_per_span:.0f} bytes each"
    )
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
    sink = Verdicts() if chosen.forward else None
    with tempfile.TemporaryDirectory(prefix="weaklink-bench-", dir=chosen.folder) as folder, ExitStack() as stack:
        forward = stack.enter_context(listening(sink.take)) if sink else None
        service = stack.enter_context(Service(Path(folder).absolute(), forward))
        plan = Plan(service.endpoint, chosen.seconds, chosen.rate, chosen.spans_per_request, chosen.in_flight)
        report = measure(service, plan, sink)
    print(json.dumps(asdict(report))) if chosen.json else show(report)
    sys.exit(report.lost)


if __name__ == "__main__":
    main()
