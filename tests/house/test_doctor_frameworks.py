"""The attribute that `weaklink doctor` names for a framework's spans is the one that mends the gap."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from covered import file_of, gaps, report
from otlp import S, Value
from weaklink_analysis.conventions import CONVENTIONS
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
        {"gen_ai.operation.name": "memory_operation", "gen_ai.memory.operation": "add", "gen_ai.memory.id": "m"},
    ),
}  # fmt: skip
"""Convention -> operation, name and attributes of a span that says next to nothing."""


@dataclass(frozen=True)
class Case:
    convention: str
    gap: str
    value: Value


CASES = (
    Case("mem0_agentops", "confidence", "0.8"),
    Case("mem0_agentops", "agent", "a"),
    Case("mem0_agentops", "session", "s"),
    Case("openinference", "ids", "m"),
    Case("openinference", "confidence", json.dumps({"confidence": 0.8})),
    Case("openinference", "agent", json.dumps({"created_by": "a"})),
    Case("openinference", "session", json.dumps({"session_id": "s"})),
    Case("mem0_loongsuite", "agent", "a"),
    Case("mem0_loongsuite", "session", "s"),
)
KNOWN = {convention.name for convention in CONVENTIONS}


@pytest.mark.parametrize("case", [case for case in CASES if case.convention in KNOWN], ids=str)
def test_the_attribute_that_is_named_mends_the_gap(case: Case, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Without it the gap is there and names it, with it the gap is gone."""
    operation, name, bare = BARE[case.convention]
    advice = mend(case.gap, case.convention, operation)
    full = dict(bare) | {advice.attribute.replace("N", "0"): case.value}
    spans = [S(1, 1, name, attributes=bare, service="without"), S(2, 2, name, attributes=full, service="with")]
    said = report(file_of(tmp_path_factory.mktemp("frameworks") / "spans.binpb", spans))
    assert gaps(said, "without")[operation, case.gap]["mend"]["attribute"] == advice.attribute
    assert (operation, case.gap) not in gaps(said, "with")
    assert {row["convention"] for row in said["recognised"]} == {case.convention}


@pytest.mark.skipif("cognee" not in KNOWN, reason="it needs a convention without words for parents")
def test_a_link_names_parents_in_any_convention(tmp_path: Path) -> None:
    """The lines for a convention that has no words for parents make a link on a write, and the gap is gone."""
    seen = InMemorySpanExporter()
    for service in ("without", "with"):
        provider = TracerProvider(resource=Resource({"service.name": service}))
        provider.add_span_processor(SimpleSpanProcessor(seen))
        tracer = provider.get_tracer("cognee")
        with tracer.start_as_current_span("run", attributes={"gen_ai.operation.name": "invoke_agent"}):
            tracer.start_span("cognee.api.recall").end()
            with tracer.start_as_current_span("cognee.api.remember") as span:
                if service == "with":
                    code = "\n".join(mend("parents", "cognee", "write").code)
                    exec(code, {"span": span, "results": [SimpleNamespace(id="r")]})  # noqa: S102
    file = tmp_path / "spans.binpb"
    file.write_bytes(framing.join([encode_spans(seen.get_finished_spans()).SerializeToString()]))
    said = report(file)
    assert ("write", "parents") in gaps(said, "without")
    assert ("write", "parents") not in gaps(said, "with")
