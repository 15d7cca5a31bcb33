"""Settings of what weaklink tells of itself."""

from typing import Literal

from weaklink_processor.config.values import ListenEndpoint, PositiveSeconds, RemoteEndpoint, Section


class Prometheus(Section):
    """The endpoint that is scraped."""

    endpoint: ListenEndpoint | None = None


class MetricsPush(Section):
    """Where metrics are sent to."""

    endpoint: RemoteEndpoint | None = None
    interval: PositiveSeconds = 60.0


class Metrics(Section):
    """How metrics leave; they do not, unless one of the two is configured."""

    prometheus: Prometheus = Prometheus()
    otlp: MetricsPush = MetricsPush()

    @property
    def wanted(self) -> bool:
        """Whether anybody reads them."""
        return bool(self.prometheus.endpoint or self.otlp.endpoint)


class TracesPush(Section):
    """Where spans about weaklink itself are sent to."""

    endpoint: RemoteEndpoint | None = None


class Traces(Section):
    """Spans about weaklink itself."""

    otlp: TracesPush = TracesPush()


class Telemetry(Section):
    """What weaklink tells about itself, besides its log."""

    metrics: Metrics = Metrics()
    traces: Traces = Traces()


class Log(Section):
    """What is logged to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["console", "json"] = "console"
