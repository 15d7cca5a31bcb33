"""What is measured: one table of instruments for the code and the documentation, and what a process counts for them.

Names, units and labels are the OpenTelemetry Collector's where it has the same thing.
https://opentelemetry.io/docs/collector/internal-telemetry/
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Kind = Literal["counter", "gauge", "histogram"]
Labels = tuple[tuple[str, str], ...]
_MOST_VALUES = 1000  # kept until they are taken, of each instrument


@dataclass(frozen=True, slots=True)
class Instrument:
    """One metric. `observed`: read when it is asked for, where others are counted as things happen."""

    name: str
    kind: Kind
    unit: str  # UCUM, as OTLP has it
    description: str
    labels: tuple[str, ...] = ()
    observed: bool = False


def _counter(name: str, unit: str, description: str, *labels: str) -> Instrument:
    return Instrument(name, "counter", unit, description, labels)


def _gauge(name: str, unit: str, description: str, *labels: str) -> Instrument:
    return Instrument(name, "gauge", unit, description, labels, observed=True)


ACCEPTED_SPANS: Final = _counter(
    "otelcol_receiver_accepted_spans", "{span}", "Spans acknowledged.", "receiver", "transport"
)
REFUSED_SPANS: Final = _counter(
    "otelcol_receiver_refused_spans",
    "{span}",
    "Spans of well-formed requests that were not taken: no room, or bad ids.",
    "receiver",
    "transport",
)
RECEIVER_REQUESTS: Final = _counter(
    "otelcol_receiver_requests",
    "{request}",
    "Export requests by their outcome: success, refused, failure.",
    "receiver",
    "transport",
    "outcome",
)
SENT_SPANS: Final = _counter(
    "otelcol_exporter_sent_spans",
    "{span}",
    "Spans that the destination took, EVALUATOR spans and annotations too.",
    "exporter",
)
FAILED_SPANS: Final = _counter(
    "otelcol_exporter_send_failed_spans",
    "{span}",
    "Spans and annotations that the destination refused for good, or that were given up.",
    "exporter",
)
QUEUE_SIZE: Final = _gauge(
    "otelcol_exporter_queue_size",
    "By",
    "What waits for the destination: requests, compressed, and evaluations.",
    "exporter",
    "data_type",
)
QUEUE_CAPACITY: Final = _gauge(
    "otelcol_exporter_queue_capacity", "By", "How much may wait: queue.max_bytes.", "exporter", "data_type"
)
CPU_SECONDS: Final = Instrument(
    "otelcol_process_cpu_seconds",
    "counter",
    "s",
    "CPU time, user and system, of the process.",
    ("process",),
    observed=True,
)
UPTIME: Final = Instrument(
    "otelcol_process_uptime", "counter", "s", "How long the process has been running.", ("process",), observed=True
)
MEMORY_RSS: Final = _gauge("otelcol_process_memory_rss", "By", "Resident memory of the process.", "process")

ACCEPTED_BYTES: Final = _counter(
    "weaklink_accepted_bytes", "By", "Bytes of the acknowledged requests, uncompressed.", "transport"
)
ANALYSED_SPANS: Final = _counter("weaklink_analysed_spans", "{span}", "Spans of applied queue rows, repeated ones too.")
ANALYSED_BYTES: Final = _counter("weaklink_analysed_bytes", "By", "Bytes of the requests in applied queue rows.")
EVALUATIONS: Final = _counter(
    "weaklink_evaluations", "{evaluation}", "New revisions of evaluations by scope and verdict.", "scope", "verdict"
)
STEP_SECONDS: Final = Instrument(
    "weaklink_step_duration_seconds", "histogram", "s", "How long the analyst took to apply queue rows, a value a step."
)
LAG_SECONDS: Final = _gauge(
    "weaklink_lag_seconds",
    "s",
    "How long the oldest row, or evaluation, that the consumer has not done has waited.",
    "consumer",
)
LAG_SPANS: Final = _gauge(
    "weaklink_lag_spans",
    "{span}",
    "Spans that the consumer has not done: an estimate from the bytes that wait; evaluations are counted.",
    "consumer",
)
QUEUE_ROWS: Final = _gauge("weaklink_queue_rows", "{row}", "Rows in the queue.")
QUEUE_BYTES: Final = _gauge("weaklink_queue_bytes", "By", "Compressed bytes in the queue.")
QUARANTINED_ROWS: Final = _gauge("weaklink_quarantined_rows", "{row}", "Damaged or unusable rows that were set aside.")
ERRORS: Final = _counter("weaklink_errors", "{error}", "Log lines of level error.", "process")

INSTRUMENTS: Final[Mapping[str, Instrument]] = {
    instrument.name: instrument for instrument in list(vars().values()) if isinstance(instrument, Instrument)
}
"""Every metric by its name, in the order of the documentation."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an observed instrument shows."""

    instrument: Instrument
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


class Tally:
    """What a process has counted and measured since that was last taken; for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._empty()

    def add(self, instrument: Instrument, number: int = 1, **labels: str) -> None:
        """Count."""
        key = (instrument.name, tuple(labels.items()))
        with self._lock:
            self._counts[key] += number

    def record(self, instrument: Instrument, value: float) -> None:
        """Add one value to a histogram; too many that nobody takes are dropped."""
        with self._lock:
            if len(self._values[instrument.name]) < _MOST_VALUES:
                self._values[instrument.name].append(value)

    def take(self) -> dict[str, Any]:
        """Return what was added since the last time, fit for JSON, {} for nothing; Board.hear understands it."""
        with self._lock:
            counts, values = self._counts, self._values
            self._empty()
        if not counts and not values:
            return {}
        return {
            "counts": [[name, dict(labels), number] for (name, labels), number in counts.items()],
            "values": dict(values),
        }

    def _empty(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._values: defaultdict[str, list[float]] = defaultdict(list)
