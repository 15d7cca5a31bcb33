"""What a framework emits, as one OTLP/JSON request in ../captured. Each script beside this one is run by hand.

It runs in its framework's own environment (../captured/README.md), so this file knows OpenTelemetry alone.
"""

import base64
import json
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

CAPTURED = Path(__file__).parent.parent / "captured"
IDS = ("traceId", "spanId", "parentSpanId")
RESOURCE_KEYS = ("service.name", "telemetry.sdk.language", "telemetry.sdk.name", "telemetry.sdk.version")
"""The rest of a resource says which machine the script ran on."""


class Recorder:
    """Keeps the spans of one run. Its provider is the global one, which is where instrumentations look."""

    def __init__(self, framework: str, provider: TracerProvider | None = None) -> None:
        self.framework = framework
        self.provider = provider or TracerProvider(resource=Resource.create({"service.name": f"{framework}-agent"}))
        self._exporter = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        if provider is None:
            trace.set_tracer_provider(self.provider)

    def write(self, only: tuple[str, ...] = ("",)) -> None:
        """Write ../captured/FRAMEWORK.json: the spans in the order in which they started.

        `only`: how the names of the spans begin that are written; the others are of no interest to anyone.
        """
        finished = [span for span in self._exporter.get_finished_spans() if span.name.startswith(only)]
        spans = sorted(finished, key=lambda span: span.start_time or 0)
        request = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
        for resource in request["resourceSpans"]:
            _trim(resource)
        path = CAPTURED / f"{self.framework}.json"
        path.write_text(json.dumps(request, indent=1, ensure_ascii=False) + "\n", "utf-8")
        for span in spans:
            print(f"{span.name}: {dict(span.attributes or {})}")  # noqa: T201 - for whoever runs it


def _trim(resource: dict[str, Any]) -> None:
    """Ids as OTLP/JSON has them, and nothing of the machine."""
    about = resource["resource"]
    about["attributes"] = [pair for pair in about["attributes"] if pair["key"] in RESOURCE_KEYS]
    for scope in resource["scopeSpans"]:
        for span in scope["spans"]:
            for part in (span, *span.get("links", ())):
                part.update({key: base64.b64decode(part[key]).hex() for key in IDS if key in part})
