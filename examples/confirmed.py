"""The story of agent.py, mended: triage checks its guess and writes it again, and the others work from what it found.

It uses weaklink's emitter, which makes the spans; agent.py makes them by hand.
"""

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from weaklink_analysis import emit


def main() -> None:
    """Tell it in one trace."""
    provider = TracerProvider(resource=Resource.create({"service.name": "incident-bot"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    with trace.get_tracer("examples.confirmed").start_as_current_span("handle incident again"):
        with emit.agent_run("triage", session="incident-8"):
            emit.wrote("triage-1", "checked: 200 of 200 connections are in use", confidence=0.9)
        with emit.agent_run("diagnosis", session="incident-8"):
            emit.found([emit.record("triage-1", confidence=0.9, created_by="triage", session_id="incident-8")])
            emit.wrote("diagnosis-1", "raise max_connections to 200", confidence=0.85, derived_from="triage-1")
        with emit.agent_run("action", session="incident-8"):
            emit.found([emit.record("diagnosis-1", confidence=0.85, created_by="diagnosis", session_id="incident-8")])
            emit.wrote("action-1", "max_connections=200: apply it", confidence=0.95, derived_from="diagnosis-1")
    provider.shutdown()
    print("wrote triage-1 again at 0.90, and what was derived from it")


if __name__ == "__main__":
    main()
