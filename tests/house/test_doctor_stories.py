"""One agent story, as each way of telling it puts it on spans, and exactly what that lacks."""

import asyncio
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from covered import gaps, report
from incident import STEPS, tell
from ledger import ledger_at
from weaklink_processor.queue import framing

Lacks = dict[tuple[str, str], tuple[int, int]]
"""Operation and gap -> records that lack it, of how many."""


def by_memledger(provider: TracerProvider, folder: Path) -> None:
    """Its own instrumentation, and a recall around the use of what was found; its searches find nothing new."""
    asyncio.run(tell(provider, folder, one_trace=True))


def by_instrumented_memledger(provider: TracerProvider, folder: Path) -> None:
    """Its own instrumentation alone, and every agent derives from what it found."""

    async def work() -> None:
        ledger = await ledger_at(folder / "ledger.db", provider.get_tracer("ledger"))
        for agent, content, confidence, hedged in STEPS:
            run = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
            with provider.get_tracer("agent").start_as_current_span("invoke_agent", attributes=run):
                found = await ledger.search(content)
                await ledger.add(
                    content,
                    confidence=confidence,
                    hedged=hedged,
                    created_by=agent,
                    session_id="incident-7",
                    derived_from=[record.id for record in found.records],
                )
        await ledger.close()

    asyncio.run(work())


def by_genai(provider: TracerProvider, _folder: Path) -> None:
    """GenAI memory spans with weaklink's provenance in each record's metadata."""
    example = _example()
    tracer = provider.get_tracer("example")
    with tracer.start_as_current_span("handle incident", attributes={"gen_ai.conversation.id": "incident-7"}):
        for known, memory in zip((None, *example.STORY), example.STORY, strict=False):
            example.run_agent(tracer, known, memory)


def by_bare_genai(provider: TracerProvider, _folder: Path) -> None:
    """GenAI memory spans with what the convention itself has words for, the search without its records."""
    example = _example()
    tracer = provider.get_tracer("example")
    with tracer.start_as_current_span("handle incident", attributes={"gen_ai.conversation.id": "incident-7"}):
        for known, memory in zip((None, *example.STORY), example.STORY, strict=False):
            run = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": memory.agent}
            with tracer.start_as_current_span("invoke_agent", attributes=run):
                if known:
                    search = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.query.text": memory.content}
                    tracer.start_span("search_memory", attributes=search).end()
                create = {"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.id": memory.id}
                tracer.start_span("create_memory", attributes=create).end()


def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent", Path(__file__).parents[2] / "examples" / "agent.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STORIES: dict[Callable[[TracerProvider, Path], None], Lacks] = {
    by_memledger: {},
    # The first of three searches finds nothing, and so lacks nothing.
    by_instrumented_memledger: {("read", gap): (2, 2) for gap in ("ids", "confidence", "agent", "session")},
    by_genai: {},
    by_bare_genai: {
        ("read", "ids"): (2, 2),
        ("read", "confidence"): (2, 2),
        ("read", "agent"): (2, 2),
        ("write", "confidence"): (3, 3),
        ("write", "agent"): (3, 3),
        # The first agent had read nothing.
        ("write", "parents"): (2, 2),
    },
}


@pytest.mark.parametrize(("told", "lacks"), STORIES.items(), ids=lambda way: getattr(way, "__name__", ""))
def test_each_way_of_telling_lacks_exactly_this(
    tmp_path: Path, told: Callable[[TracerProvider, Path], None], lacks: Lacks
) -> None:
    """What one way leaves out is named with how much of it is, and what it says is not."""
    seen, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    told(provider, tmp_path)
    file = tmp_path / "spans.binpb"
    file.write_bytes(framing.join([encode_spans(seen.get_finished_spans()).SerializeToString()]))
    said = report(file)
    (service,) = {row["service_name"] for row in said["recognised"]}
    assert {key: (gap["open"], gap["total"]) for key, gap in gaps(said, service).items()} == lacks
    assert said["covered"] == (not lacks)
