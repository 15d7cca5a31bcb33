"""Metrics and traces to an OTLP/gRPC server, by the SDK's exporters.

What is not a setting here the SDK takes from its own variables, as OTEL_EXPORTER_OTLP_HEADERS and
OTEL_EXPORTER_OTLP_CERTIFICATE; the endpoint it never does, so nothing is sent that weaklink's settings do not name.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from weaklink_processor.telemetry.board import resource

_TIMEOUT_SECONDS = 5.0
_LAST_SECONDS = 1.0


def metric_push(endpoint: str, interval_seconds: float) -> MetricReader:
    """Return a reader that sends all metrics every so many seconds, and at its end."""
    exporter = OTLPMetricExporter(endpoint, insecure=_insecure(endpoint), timeout=_TIMEOUT_SECONDS)
    return PeriodicExportingMetricReader(exporter, export_interval_millis=interval_seconds * 1000)


@contextmanager
def tracing(endpoint: str) -> Iterator[Tracer]:
    """Yield a tracer whose spans are sent in batches, on a thread of their own; what is left at the end goes too."""
    provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint, insecure=_insecure(endpoint), timeout=_TIMEOUT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield provider.get_tracer("weaklink", version("weaklink"))
    finally:
        last_words(provider.shutdown)


def last_words(say: Callable[[], None]) -> None:
    """Let an exporter send what it has left, but wait only so long: a stop has its own end."""
    speaking = threading.Thread(target=say, name="last-words", daemon=True)
    speaking.start()
    speaking.join(_LAST_SECONDS)


def _insecure(endpoint: str) -> bool:
    return not endpoint.startswith("https://")
