"""weaklink beside others that take OTLP: the same load for each, one after the other.

    python bench/peers.py [--spans 1000000] [--slow-spans 10000] [--only weaklink Collector] [--json]
        [--collector otelcol] [--phoenix phoenix] [--mlflow mlflow]

The OpenTelemetry Collector forwards to a server that only counts, and stores nothing; Phoenix and MLflow store spans.
One that is not installed is left out. README.md says how to install them.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from contenders import Contender, Running, contenders
from generator import Plan, generator
from machine import MILLION, machine

ROOM_SECONDS = 3600.0  # all spans are sent, however long it takes
SAMPLE_SECONDS = 0.1
ASK_SECONDS = 0.5  # between two looks at what is stored, which cost some of the cores
STALLED_SECONDS = 30.0  # without any more spans: what is missing is lost
WEAKLINK = "weaklink"


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of it. CPU and memory are those of all its processes, CPU until all is settled."""

    spans_acknowledged: int
    spans_refused: int
    spans_found: int
    spans_per_second: float  # found, from the first request until no more are
    cpu_seconds_per_million: float
    peak_rss_mib: float
    latency_ms: dict[str, float]


def measure(running: Running, spans: int, spans_per_request: int, in_flight: int) -> Figures:
    """Send, wait until it has all or loses some, and return the figures."""
    usage = running.usage
    plan = Plan(running.endpoint, ROOM_SECONDS, None, spans_per_request, in_flight, spans, running.headers)
    with generator(plan) as load:
        before = sum(usage.cpu_seconds().values())
        load.begin()
        _sample_until(running, load.is_done)
        sent = load.sent()
        found, moment = _all_found(running, sent.acknowledged)
        _sample_until(running, running.settled, ASK_SECONDS)
        used = sum(usage.cpu_seconds().values()) - before
    return Figures(
        spans_acknowledged=sent.acknowledged,
        spans_refused=sent.refused,
        spans_found=found,
        spans_per_second=found / (moment - sent.begun),
        cpu_seconds_per_million=used / max(found, 1) * MILLION,
        peak_rss_mib=usage.peak(),
        latency_ms=sent.latency_ms,
    )


def _all_found(running: Running, wanted: int) -> tuple[int, float]:
    """Ask until it has what it acknowledged, or gets no more; return how much that is, and since when."""
    found, moment = running.found(), time.perf_counter()
    while found < wanted and time.perf_counter() < moment + STALLED_SECONDS:
        running.usage.sample()
        time.sleep(SAMPLE_SECONDS if found == 0 else ASK_SECONDS)
        if (now := running.found()) > found:
            found, moment = now, time.perf_counter()
    return found, moment


def _sample_until(running: Running, reached: Callable[[], bool], pause: float = SAMPLE_SECONDS) -> None:
    while not reached():
        running.usage.sample()
        time.sleep(pause)


def show(figures: dict[str, Figures]) -> None:
    """Print a table; ratios are to weaklink."""
    ours = figures.get(WEAKLINK)
    print(f"{'':16}{'spans/s':>10}{'ratio':>9}{'CPU-s/M':>10}{'ratio':>9}{'MiB':>8}{'acknowledged':>14}{'found':>11}")
    for name, its in figures.items():
        speed, cost = its.spans_per_second, its.cpu_seconds_per_million
        speeds = f"{ours.spans_per_second / speed:.2f}" if ours else ""
        costs = f"{ours.cpu_seconds_per_million / cost:.2f}" if ours else ""
        stored = f"{its.peak_rss_mib:>8,.0f}{its.spans_acknowledged:>14,}{its.spans_found:>11,}"
        refused = f"   {its.spans_refused:,} refused" if its.spans_refused else ""
        print(f"{name:16}{speed:>10,.0f}{speeds:>9}{cost:>10,.1f}{costs:>9}{stored}{refused}")
    print("ratio: weaklink's figure over the other's; MiB: all its processes at their peak")


def run(contender: Contender, folder: Path | None, spans: int, spans_per_request: int, in_flight: int) -> Figures:
    """Start one and measure it."""
    with (
        tempfile.TemporaryDirectory(prefix="weaklink-peers-", dir=folder, ignore_cleanup_errors=True) as own,
        contender.start(Path(own).absolute()) as running,
    ):
        return measure(running, spans, spans_per_request, in_flight)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=MILLION, help="to weaklink and the Collector")
    parser.add_argument("--slow-spans", type=int, default=10_000, help="to Phoenix and MLflow")
    parser.add_argument("--spans-per-request", type=int, default=512)
    parser.add_argument("--in-flight", type=int, default=8, help="calls at a time")
    parser.add_argument("--collector", default="otelcol", help="how it is called")
    parser.add_argument("--phoenix", default="phoenix")
    parser.add_argument("--mlflow", default="mlflow")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="as in the table")
    parser.add_argument("--folder", type=Path, help="where data is; default: the system's temporary folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # what was started ends too
    figures = {}
    for name, contender in contenders(chosen.collector, chosen.phoenix, chosen.mlflow).items():
        if chosen.only and name not in chosen.only:
            continue
        if contender.missing:
            print(f"{name} is left out: {contender.missing}")
            continue
        spans = chosen.slow_spans if contender.is_slow else chosen.spans
        print(f"{name}: {spans:,} spans", file=sys.stderr)
        figures[name] = run(contender, chosen.folder, spans, chosen.spans_per_request, chosen.in_flight)
    if chosen.json:
        print(json.dumps({"machine": machine(), "figures": {name: asdict(its) for name, its in figures.items()}}))
        return
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    show(figures)


if __name__ == "__main__":
    main()
