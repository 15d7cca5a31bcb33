"""The attribute that `weaklink doctor` names for a framework's spans is the one that mends the gap."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from covered import file_of, gaps, report
from otlp import S, Value
from weaklink_analysis.doctor.mend import Mend
from weaklink_analysis.doctor.mends import mend
from weaklink_processor.queue import framing

BARE: Mapping[str, tuple[str, str, Mapping[str, Value]]] = {
    "mem0_agentops": ("read", "mem0.memory.search", {"mem0.memory.0.id": "m"}),
    "openinference": (
        "read", "retrieve", {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.score": 0.5},
    ),
    "mem0_loongsuite": (
        "write",
        "memory_operation add",
        {"gen_ai.operation.name": "memory_operation", "gen_ai.memory.operation": "add"},
    ),
    "google_adk": (
        "read",
        "execute_tool load_memory",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "load_memory"},
    ),
    "genai_retrieval": ("read", "retrieval", {"gen_ai.operation.name": "retrieval"}),
    "vector_stores": ("read", "chroma.query", {"db.system": "chroma", "db.operation": "query"}),
    "mastra": (
        "read",
        "memory_operation Memory",
        {"mastra.span.type": "memory_operation", "mastra.memory_operation.input": json.dumps({"threadId": "s"})},
    ),
}  # fmt: skip
"""Convention -> operation, name and attributes of a span that says next to nothing."""


@dataclass(frozen=True)
class Case:
    """The value of the attribute that is named; where it is an event's, the span has that event with and without."""

    convention: str
    gap: str
    value: Value

    @property
    def advice(self) -> Mend:
        return mend(self.gap, self.convention, BARE[self.convention][0])

    def span(self, number: int, *, mended: bool) -> S:
        """The span, in a trace of its own, with the attribute or without."""
        _, name, bare = BARE[self.convention]
        said = {self.advice.attribute.replace("N", "0"): self.value} if mended else {}
        service = f"{self} {'with' if mended else 'without'}"
        if self.advice.attribute.startswith("db.query.result."):
            found: Mapping[str, Value] = {"db.query.result.id": "m", **said}
            return S(number, 1, name, attributes=bare, events=[("db.query.result", found)], service=service)
        return S(number, 1, name, attributes={**bare, **said}, service=service)


DOCUMENTS = json.dumps([{"id": "m", "metadata": {"confidence": 0.8, "created_by": "a"}}])
CASES = (
    Case("mem0_agentops", "confidence", "0.8"),
    Case("mem0_agentops", "agent", "a"),
    Case("mem0_agentops", "session", "s"),
    Case("openinference", "ids", "m"),
    Case("openinference", "confidence", json.dumps({"confidence": 0.8})),
    Case("openinference", "agent", json.dumps({"created_by": "a"})),
    Case("openinference", "session", json.dumps({"session_id": "s"})),
    Case("mem0_loongsuite", "ids", "{'results': [{'id': 'm', 'event': 'ADD'}]}"),
    Case("mem0_loongsuite", "agent", "a"),
    Case("mem0_loongsuite", "session", "s"),
    Case("google_adk", "ids", json.dumps({"result": {"memories": [{"id": "m"}]}})),
    Case("genai_retrieval", "ids", DOCUMENTS),
    Case("genai_retrieval", "confidence", DOCUMENTS),
    Case("genai_retrieval", "agent", DOCUMENTS),
    Case("vector_stores", "confidence", json.dumps({"confidence": 0.8})),
    Case("vector_stores", "agent", json.dumps({"created_by": "a"})),
    Case("vector_stores", "session", json.dumps({"session_id": "s"})),
    Case("mastra", "session", "s"),
)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is said of every case, with and without."""
    spans = [case.span(2 * n + mended, mended=bool(mended)) for n, case in enumerate(CASES, 1) for mended in (0, 1)]
    return report(file_of(tmp_path_factory.mktemp("frameworks") / "spans.binpb", spans))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_attribute_that_is_named_mends_the_gap(said: dict[str, Any], case: Case) -> None:
    """Without it the gap is there and names it, with it the gap is gone."""
    operation, *_ = BARE[case.convention]
    assert gaps(said, f"{case} without")[operation, case.gap]["mend"]["attribute"] == case.advice.attribute
    assert (operation, case.gap) not in gaps(said, f"{case} with")
    known = {row["convention"] for row in said["recognised"] if row["service_name"] == f"{case} with"}
    assert known == {case.convention}


def test_retrieved_documents_are_named_with_their_provenance() -> None:
    """The lines for a retrieval's span say of what was found all that a document's metadata can say."""
    span = TracerProvider().get_tracer("agent").start_span("retrieval")
    found = SimpleNamespace(id="m", confidence=0.8, agent="a")
    code = "\n".join(mend("ids", "genai_retrieval", "read").code)
    exec(code, {"span": span, "json": json, "results": [found]})  # noqa: S102
    assert isinstance(span, ReadableSpan)
    assert dict(span.attributes or {}) == {"gen_ai.retrieval.documents": DOCUMENTS}


def test_a_link_names_parents_in_any_convention(tmp_path: Path) -> None:
    """The lines for a convention of one's own, without words for parents, make a link on a write: the gap is gone."""
    seen = InMemorySpanExporter()
    for service in ("without", "with"):
        provider = TracerProvider(resource=Resource({"service.name": service}))
        provider.add_span_processor(SimpleSpanProcessor(seen))
        tracer = provider.get_tracer("cognee")
        with tracer.start_as_current_span("run", attributes={"gen_ai.operation.name": "invoke_agent"}):
            tracer.start_span("cognee.api.recall").end()
            with tracer.start_as_current_span("cognee.api.remember") as span:
                if service == "with":
                    code = "\n".join(mend("parents", "acme", "write").code)
                    exec(code, {"span": span, "results": [SimpleNamespace(id="r")]})  # noqa: S102
    file = tmp_path / "spans.binpb"
    file.write_bytes(framing.join([encode_spans(seen.get_finished_spans()).SerializeToString()]))
    said = report(file)
    assert ("write", "parents") in gaps(said, "without")
    assert ("write", "parents") not in gaps(said, "with")
