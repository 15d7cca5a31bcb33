"""What an emitter says, through the real SDK: its spans, and what the engine makes of them as an OTLP request."""

from collections.abc import Mapping, Sequence

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from engine_harness import Analysis
from weaklink_analysis.emit import Emitter


class Told:
    """An emitter on a tracer provider of its own, and all that came of it."""

    def __init__(self) -> None:
        self.provider = TracerProvider(shutdown_on_exit=False)
        self._exporter = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.emitter = Emitter(self.provider)

    def spans(self) -> Sequence[ReadableSpan]:
        """Those that have ended, in this order."""
        return self._exporter.get_finished_spans()

    def span(self, name: str) -> ReadableSpan:
        """The only span of this name."""
        (span,) = [span for span in self.spans() if span.name == name]
        return span

    def attributes(self, name: str) -> Mapping[str, object]:
        """Those of the only span of this name."""
        return dict(self.span(name).attributes or {})

    def request(self) -> bytes:
        """All of it as one OTLP request."""
        return bytes(encode_spans(self.spans()).SerializeToString())

    def analysis(self) -> Analysis:
        """An engine that absorbed and judged it all."""
        analysis = Analysis()
        analysis.feed_request(self.request())
        analysis.evaluate()
        return analysis
