"""The seed's contamination cascade, told by the real memledger over the stock exporters."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from evaluators.attribution_integrity_structural import StructuralEvalResult, evaluate_structural
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from incident import STEPS, tell
from weaklink_service import Service, wait_until

STRUCTURAL = "name = 'memory_attribution_integrity_structural' AND scope = 'trace'"


@dataclass(frozen=True)
class Story:
    """What was told: agent -> memory id, and the spans by trace as the SDK made them."""

    written: dict[str, str]
    traces: dict[str, list[ReadableSpan]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("incident") / "data") as service:
        yield service


EXPORTERS: dict[str, Callable[[Service], SpanExporter]] = {
    "grpc": lambda service: GrpcExporter(endpoint=service.grpc, insecure=True),
    "http": lambda service: HttpExporter(endpoint=f"http://{service.http}/v1/traces"),
}


@pytest.fixture(scope="module", params=EXPORTERS)
def exporter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[True, False], ids=["one trace", "three traces"])
def story(
    request: pytest.FixtureRequest, service: Service, exporter: str, tmp_path_factory: pytest.TempPathFactory
) -> Story:
    """The incident is told, and weaklink has judged each of its traces."""
    seen = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    provider.add_span_processor(BatchSpanProcessor(EXPORTERS[exporter](service)))
    written = asyncio.run(tell(provider, tmp_path_factory.mktemp("ledger"), one_trace=request.param))
    provider.shutdown()
    traces: dict[str, list[ReadableSpan]] = defaultdict(list)
    for span in seen.get_finished_spans():
        assert span.context
        traces[f"{span.context.trace_id:032x}"].append(span)
    assert len(traces) == (1 if request.param else 3)
    judged = f"evaluations WHERE {STRUCTURAL} AND trace_id IN {(*traces, '')}"
    wait_until(lambda: service.count(judged) == len(traces), "a verdict on each trace")
    return Story(written, traces)


def test_every_memory_is_as_weak_as_the_guess(service: Service, story: Story) -> None:
    """All three memories end at 0.30, FILTER, 0, 1 and 2 derivations deep, the guess being the weakest link of each."""
    guess = story.written["triage"]
    rows = service.query(
        "SELECT memory_id, agent_id, declared_confidence, effective_confidence, confidence_flag, chain_depth, "
        f"weakest_id, chain_complete, version FROM memories WHERE memory_id IN {tuple(story.written.values())}"
    )
    assert sorted(rows, key=lambda row: str(row[5])) == [
        (story.written[agent], agent, declared, 0.30, "FILTER", depth, guess, True, 1)
        for depth, (agent, _, declared, _) in enumerate(STEPS)
    ]


def test_every_span_is_stored(service: Service, story: Story) -> None:
    """Each span that the SDK made is in `spans` once, with its name and its parent."""
    for trace_id, spans in story.traces.items():
        rows = service.query(f"SELECT span_id, parent_span_id, name FROM spans WHERE trace_id = '{trace_id}'")
        assert sorted(map(str, rows)) == sorted(str(_ids(span)) for span in spans)


def test_the_verdict_is_the_reference_s_own(service: Service, story: Story) -> None:
    """Score, verdict and checks of each trace equal memledger's own on the same spans.

    A declared difference: a search that says it found nothing is no operation, so the reference is fed without those.
    """
    for trace_id, spans in story.traces.items():
        where = f"trace_id = '{trace_id}' AND {STRUCTURAL}"
        evaluations = service.query(
            f"SELECT score, passed, threshold, span_count, scope, rubric FROM evaluations WHERE {where}"
        )
        checks = service.query(
            f"SELECT check_name, passed, weight FROM evaluation_checks WHERE {where} ORDER BY check_name"
        )
        reference = _judged_by_reference(spans)
        assert evaluations == [
            (reference.score, reference.passed, reference.threshold, reference.span_count, "trace", "mai-structural/1")
        ]
        assert checks == sorted((check.check_name, check.passed, check.weight) for check in reference.checks)


def _judged_by_reference(spans: list[ReadableSpan]) -> StructuralEvalResult:
    told = [span for span in spans if (span.attributes or {}).get("memledger.result_count") != 0]
    return evaluate_structural([{"name": span.name, "attributes": dict(span.attributes or {})} for span in told])


def _ids(span: ReadableSpan) -> tuple[str, str | None, str]:
    assert span.context
    return f"{span.context.span_id:016x}", f"{span.parent.span_id:016x}" if span.parent else None, span.name
