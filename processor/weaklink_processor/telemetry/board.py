"""The numbers of all processes of a service in one place: an OpenTelemetry meter that any number of readers read.

Children count for themselves and send what has been added since the last time; so a child that is started again
goes on where its predecessor stopped. What can be looked up is looked up when a reader asks.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from weaklink_processor.metrics import ACCEPTED_SPANS, INSTRUMENTS, REFUSED_SPANS, STEP_SECONDS, Instrument, Reading

BUCKETS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds; a step's fixed cost is about 0.2."""
_FRESH_SECONDS = 0.2  # one look serves all instruments of a collection
_FROM_THE_START = (ACCEPTED_SPANS, REFUSED_SPANS)  # 0 before anything happened, so that the first is an increase

Observe = Callable[[], Iterable[Reading]]


def resource() -> Resource:
    """Who is telling: this service, as the Collector names itself."""
    return Resource.create(
        {
            "service.name": "weaklink",
            "service.version": version("weaklink"),
            "service.instance.id": str(uuid.uuid4()),
        }
    )


class Board:
    """Takes what processes tell, and shows it to readers. Threads may come and go."""

    def __init__(self, readers: Sequence[MetricReader], observe: Observe) -> None:
        """`observe` gives the observed instruments' readings; without one for now, an instrument shows nothing."""
        self._observe, self._lock = observe, threading.Lock()
        self._seen: tuple[float, list[Reading]] = (float("-inf"), [])
        self._provider = MeterProvider(readers, resource(), shutdown_on_exit=False)
        meter = self._provider.get_meter("weaklink", version("weaklink"))
        makers: Mapping[tuple[str, bool], Callable[..., Any]] = {
            ("counter", False): meter.create_counter,
            ("counter", True): meter.create_observable_counter,
            ("gauge", True): meter.create_observable_gauge,
        }
        self._counters = {}
        for one in INSTRUMENTS.values():
            if one.observed:
                makers[one.kind, True](one.name, [partial(self._observations, one)], one.unit, one.description)
            elif one.kind == "counter":
                self._counters[one.name] = makers[one.kind, False](one.name, one.unit, one.description)
        self._steps = meter.create_histogram(
            STEP_SECONDS.name,
            STEP_SECONDS.unit,
            STEP_SECONDS.description,
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        for counter in _FROM_THE_START:
            for transport in ("grpc", "http"):
                self._counters[counter.name].add(0, {"receiver": "otlp", "transport": transport})

    def hear(self, portion: Mapping[str, Any]) -> None:
        """Add what a process has counted: a portion of its Tally."""
        for name, labels, number in portion.get("counts", ()):
            self._counters[name].add(number, labels)
        for value in portion.get("values", {}).get(STEP_SECONDS.name, ()):
            self._steps.record(value)

    def count(self, instrument: Instrument, **labels: str) -> None:
        """Count one in this process."""
        self._counters[instrument.name].add(1, labels)

    def close(self) -> None:
        """Let readers that push send what they have not, and end; may block for as long as they do."""
        self._provider.shutdown()

    def _observations(self, instrument: Instrument, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(r.value, dict(r.labels)) for r in self._readings() if r.instrument is instrument]

    def _readings(self) -> list[Reading]:
        with self._lock:
            seen_at, readings = self._seen
            if time.monotonic() - seen_at > _FRESH_SECONDS:
                readings = list(self._observe())
                self._seen = time.monotonic(), readings
            return readings
