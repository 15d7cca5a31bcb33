"""The spans of each framework, as it emits them: what the golden tests read."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_analysis.conventions import CONVENTIONS
from weaklink_processor.receive.accept import accept
from weaklink_processor.receive.files import read_requests
from weaklink_processor.receive.limits import Limits

HERE = Path(__file__).parent
FILES = sorted((HERE / "captured").glob("*.json"))
ORIGINS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "captured" / "origins.toml").read_text("utf-8"))

KNOWN = {
    "agentcore", "cognee", "genai", "genai_retrieval", "google_adk", "graphiti", "mastra", "mem0_agentops",
    "mem0_loongsuite", "memledger", "memory_semconv", "openinference", "vector_stores",
} | {convention.name for convention in CONVENTIONS}  # fmt: skip


def request(path: Path) -> ExportTraceServiceRequest:
    (payload,) = read_requests(path)
    return ExportTraceServiceRequest.FromString(accept(payload, Limits()).payload)


def spans(path: Path) -> list[Span]:
    return [span for resource in request(path).resource_spans for scope in resource.scope_spans for span in scope.spans]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_receiver_takes_every_span(path: Path) -> None:
    """Each file is one OTLP request that is read from a file and judged as any other, and none of its spans goes."""
    (payload,) = read_requests(path)
    accepted = accept(payload, Limits())
    assert accepted.rejected == 0
    assert accepted.spans == len(spans(path)) > 0
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in spans(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_parent_is_in_the_file(path: Path) -> None:
    """What a memory span is part of says whose it is: the spans that were left out are nobody's parents."""
    ids = {span.span_id for span in spans(path)}
    assert len(ids) == len(spans(path))
    assert {span.parent_span_id for span in spans(path)} <= ids | {b""}


def test_every_file_has_its_origin() -> None:
    """No file without a row in origins.toml, no row without a file."""
    assert set(ORIGINS) == {path.stem for path in FILES}


@pytest.mark.parametrize("name", ORIGINS)
def test_an_origin_says_how_it_came_about(name: str) -> None:
    """Packages with versions that ran, or what was read; and the script that wrote the file."""
    origin = ORIGINS[name]
    versions = {"real": "packages", "source": "read"}[origin["kind"]]
    assert set(origin) == {"conventions", "kind", versions, "script", "differs"}
    assert all(("==" in each) or each.rfind("@") > 0 for each in origin.get("packages", ()))
    assert (HERE / "capture" / origin["script"]).is_file()
    assert set(origin["conventions"]) <= KNOWN


def test_every_convention_has_a_file() -> None:
    """What weaklink recognises it has seen."""
    assert {convention for origin in ORIGINS.values() for convention in origin["conventions"]} == KNOWN


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_resource_says_nothing_of_the_machine(path: Path) -> None:
    """A service and its SDK: no host, no process, no user."""
    keys = {pair.key for resource in request(path).resource_spans for pair in resource.resource.attributes}
    assert keys <= {"service.name", "telemetry.sdk.language", "telemetry.sdk.name", "telemetry.sdk.version"}
    assert "service.name" in keys
