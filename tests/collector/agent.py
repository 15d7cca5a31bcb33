"""An agent at work, as a process of its own: OpenTelemetry's SDK and its stock exporter, nothing of weaklink.

    agent.py NUMBER TRACES grpc|http ENDPOINT IDS_FILE

Each trace has ten spans. In every second one the agent reads what it remembered two traces ago and writes what it
concludes. IDS_FILE gets 24 bytes a span: its trace id and its span id.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Tracer

SPANS_PER_TRACE = 10
_STEPS = SPANS_PER_TRACE - 2  # but for the request and the agent's run


class _Notes(SpanProcessor):
    """Writes down the ids of what ends."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def on_end(self, span: ReadableSpan) -> None:
        self._file.write(span.context.trace_id.to_bytes(16) + span.context.span_id.to_bytes(8))


def main(number: str, traces: str, protocol: str, endpoint: str, ids_file: str) -> None:
    exporter: SpanExporter = (
        GrpcExporter(endpoint, insecure=True) if protocol == "grpc" else HttpExporter(f"http://{endpoint}/v1/traces")
    )
    provider = TracerProvider(resource=Resource.create({"service.name": f"agent-{number}"}))
    # Room for all of it: an SDK whose queue is full drops spans.
    every = int(traces) * SPANS_PER_TRACE
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=every, schedule_delay_millis=200))
    with Path(ids_file).open("wb") as file:
        provider.add_span_processor(_Notes(file))
        tracer = provider.get_tracer("tests.collector.agent")
        for trace in range(int(traces)):
            _handle_request(tracer, f"m-{number}", trace)
    if not provider.force_flush(100_000):
        sys.exit("spans are left")
    provider.shutdown()


def _handle_request(tracer: Tracer, name: str, trace: int) -> None:
    run = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"{name}-agent"}
    with (
        tracer.start_as_current_span("handle request", attributes={"gen_ai.conversation.id": f"{name}-{trace % 50}"}),
        tracer.start_as_current_span("invoke_agent", attributes=run),
    ):
        remembered = _memories(name, trace) if trace % 2 else {}
        for operation, record in remembered.items():
            _step(tracer, operation, {"gen_ai.memory.records": json.dumps([record])})
        for step in range(_STEPS - len(remembered)):
            _step(
                tracer, "execute_tool", {"gen_ai.tool.name": "search", "gen_ai.tool.call.id": f"{name}-{trace}-{step}"}
            )


def _memories(name: str, trace: int) -> Mapping[str, object]:
    """What the agent reads and what it writes: operation -> record."""
    known, new = f"{name}-{trace - 2}", f"{name}-{trace}"
    about = {"confidence": 0.3 + trace % 7 / 10, "created_by": f"{name}-agent"}
    return {
        "search_memory": {"id": known, "metadata": about},
        "create_memory": {"id": new, "metadata": {**about, "derived_from": [known]}},
    }


def _step(tracer: Tracer, operation: str, attributes: Mapping[str, str]) -> None:
    with tracer.start_as_current_span(operation, attributes={"gen_ai.operation.name": operation, **attributes}):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
