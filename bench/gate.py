"""What a gate in CI costs: over traces in a data folder, and over a file of OTLP JSON lines.

    python bench/gate.py [--traces 10000] [--megabytes 200] [--folder F] [--json]

Each is a process of its own, as a CI job starts it: all of it counts, its imports too. Exit code 1 if one takes longer,
or more memory, than it may.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from load import TRACE, requests
from machine import machine
from usage import Usage
from weaklink_processor.queue import framing

SPANS = 510
"""Of a request: whole traces."""
FOLDER_SECONDS, FILE_SECONDS, FILE_MIB = 3.0, 30.0, 600.0
PROGRAM = (sys.executable, "-m", "weaklink_processor")


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run: the wall clock, CPU of all its processes, and the most memory that they had at one time."""

    seconds: float
    cpu_seconds: float
    peak_rss_mib: float
    conclusion: str


def run(*arguments: str) -> Cost:
    """Start it, and look at it until it ends."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:
        begun = time.perf_counter()
        with subprocess.Popen([*PROGRAM, *arguments], stdout=told) as process:
            usage = Usage(psutil.Process(process.pid))
            while process.poll() is None:
                usage.sample()
                time.sleep(0.02)
        seconds = time.perf_counter() - begun
        told.seek(0)
        (*_, last) = told.read().splitlines() or [""]
    return Cost(round(seconds, 2), round(sum(usage.cpu_seconds().values()), 2), round(usage.peak(), 1), last)


def write_file(file: Path, traces: int) -> None:
    """Write so many traces in length-delimited protobuf."""
    with file.open("wb") as out:
        for request in islice(requests(SPANS), -(-traces * len(TRACE) // SPANS)):
            out.write(framing.join([request]))


def write_json(file: Path, megabytes: int) -> int:
    """Write JSON lines as the Collector's file exporter does, until there are so many MB; how many spans that is."""
    spans = 0
    with file.open("w", encoding="utf-8") as out:
        for line in map(_line, requests(SPANS)):
            out.write(line)
            spans += SPANS
            if out.tell() >= megabytes * 1_000_000:
                return spans
    return spans


def _line(payload: bytes) -> str:
    (resource,) = ExportTraceServiceRequest.FromString(payload).resource_spans
    spans = [
        {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "parentSpanId": span.parent_span_id.hex(),
            "flags": span.flags,
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": str(span.start_time_unix_nano),
            "endTimeUnixNano": str(span.end_time_unix_nano),
            "attributes": list(_attributes(span.attributes)),
            "status": {},
        }
        for span in resource.scope_spans[0].spans
    ]
    scope = {"scope": {"name": "bench"}, "spans": spans}
    told = {"resource": {"attributes": list(_attributes(resource.resource.attributes))}, "scopeSpans": [scope]}
    return json.dumps({"resourceSpans": [told]}, separators=(",", ":")) + "\n"


def _attributes(attributes: Any) -> Iterator[dict[str, object]]:
    names = {"string_value": "stringValue", "bool_value": "boolValue", "double_value": "doubleValue"}
    each: KeyValue
    for each in attributes:
        kind = str(each.value.WhichOneof("value"))
        value = getattr(each.value, kind)
        said = {"intValue": str(value)} if kind == "int_value" else {names[kind]: value}
        yield {"key": each.key, "value": said}


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where files are made, and deleted again")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weaklink-bench-", dir=chosen.folder) as name:
        folder = Path(name)
        write_file(folder / "traces.binpb", chosen.traces)
        data = str(folder / "data")
        subprocess.run([*PROGRAM, "replay", str(folder / "traces.binpb"), "--data-dir", data], check=True)
        run("gate", "--data-dir", data)  # the files are in the system's cache afterwards, as those of a service are
        of_folder = run("gate", "--data-dir", data)
        spans = write_json(folder / "traces.jsonl", chosen.megabytes)
        of_file = run("gate", str(folder / "traces.jsonl"))
    told = {"machine": machine(), "traces": chosen.traces, "folder": asdict(of_folder)}
    told |= {"megabytes": chosen.megabytes, "spans": spans, "file": asdict(of_file)}
    print(json.dumps(told) if chosen.json else _text(told))
    held = of_folder.seconds <= FOLDER_SECONDS and of_file.seconds <= FILE_SECONDS and of_file.peak_rss_mib <= FILE_MIB
    sys.exit(not held)


def _text(told: dict[str, Any]) -> str:
    rows = (("folder", f"{told['traces']:,} traces"), ("file", f"{told['megabytes']:,} MB, {told['spans']:,} spans"))
    lines = [
        f"{name} ({what}): {cost['seconds']:.1f} s, {cost['cpu_seconds']:.1f} s CPU, {cost['peak_rss_mib']:.0f} MiB; "
        f"{cost['conclusion']}"
        for name, what in rows
        for cost in (told[name],)
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
