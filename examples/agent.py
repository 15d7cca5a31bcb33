"""Three agents share one memory. The first one guesses, and the last one acts on the guess at confidence 0.95.

This is a plain OpenTelemetry program: the SDK and the stock OTLP exporter, nothing of weaklink. The exporter
sends to localhost:4317, or to wherever OTEL_EXPORTER_OTLP_ENDPOINT points.
"""

import json
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer


@dataclass(frozen=True)
class Memory:
    """What an agent remembers, how sure it says it is, and what it took it from."""

    id: str
    agent: str
    content: str
    confidence: float
    hedged: bool = False
    derived_from: tuple[str, ...] = ()

    def record(self) -> str:
        """The value of `gen_ai.memory.records`: a JSON array of records, provenance in their metadata."""
        metadata = {
            "confidence": self.confidence,
            "hedged": self.hedged,
            "derived_from": self.derived_from,
            "created_by": self.agent,
        }
        return json.dumps([{"id": self.id, "content": self.content, "metadata": metadata}])


STORY = (
    Memory("triage-1", "triage", "maybe the connection pool is exhausted", 0.30, hedged=True),
    Memory("diagnosis-1", "diagnosis", "raise max_connections to 200", 0.85, derived_from=("triage-1",)),
    Memory("action-1", "action", "max_connections=200 is right: apply it", 0.95, derived_from=("diagnosis-1",)),
)


def main() -> None:
    """Tell the story in one trace."""
    provider = TracerProvider(resource=Resource.create({"service.name": "incident-bot"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("examples.agent")
    with tracer.start_as_current_span("handle incident", attributes={"gen_ai.conversation.id": "incident-7"}):
        for known, memory in zip((None, *STORY), STORY, strict=False):
            run_agent(tracer, known, memory)
    provider.shutdown()
    print("wrote", ", ".join(f"{memory.id} at {memory.confidence:.2f}" for memory in STORY))


def run_agent(tracer: Tracer, known: Memory | None, memory: Memory) -> None:
    """One agent's run: it reads what the one before it wrote, if there was one, and writes its own conclusion."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": memory.agent}
    with tracer.start_as_current_span(f"invoke_agent {memory.agent}", attributes=agent):
        if known:
            memory_span(tracer, "search_memory", known)
        memory_span(tracer, "create_memory", memory)


def memory_span(tracer: Tracer, operation: str, memory: Memory) -> None:
    """A GenAI memory span that names the record it reads or writes."""
    attributes = {"gen_ai.operation.name": operation, "gen_ai.memory.records": memory.record()}
    with tracer.start_as_current_span(operation, attributes=attributes):
        pass


if __name__ == "__main__":
    main()
