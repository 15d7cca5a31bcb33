"""The emitter of an agent, over the stock exporter, to a service."""

from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from weaklink_analysis.emit import Emitter
from weaklink_service import Service, wait_until


def test_what_an_agent_says_is_what_the_service_knows(tmp_path: Path) -> None:
    """A chain, its authors and its session, and a decision that is judged by the guess at its bottom."""
    with Service(tmp_path / "data") as service:
        provider = TracerProvider(resource=Resource.create({"deployment.environment.name": "prod"}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=service.grpc, insecure=True)))
        emitter = Emitter(provider)
        with emitter.agent_run("triage", session="incident-7"):
            with emitter.memory_write(content="maybe the pool", confidence=0.30, hedged=True) as write:
                write.memory_id = "note-7"
            with emitter.agent_run("action"), emitter.decision(relied_on="note-7"):
                emitter.wrote("change-42", "applied", confidence=0.95, derived_from="note-7")
        provider.shutdown()
        wait_until(lambda: service.count("evaluations WHERE scope = 'decision'"), "the verdict on the decision")
        memories = service.query(
            "SELECT environment, memory_id, agent_id, session_id, declared_confidence, effective_confidence, hedged "
            "FROM memories ORDER BY memory_id"
        )
        decisions = service.query(
            "SELECT agent_id, memory_ids, decision_memory_id, min_effective_confidence FROM decisions"
        )
    assert memories == [
        ("prod", "change-42", "action", "incident-7", 0.95, 0.30, False),
        ("prod", "note-7", "triage", "incident-7", 0.30, 0.30, True),
    ]
    assert decisions == [("action", ["note-7"], "change-42", 0.30)]
