"""The advice of `weaklink doctor` works: its lines are run on real spans of the SDK and of the real memledger."""

import asyncio
import functools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import pytest
from memledger import Memledger
from memledger.telemetry.memory_spans import memory_span
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, Tracer, get_tracer

from covered import gaps, report
from ledger import ledger_at, traced_by
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_analysis.doctor.gaps import GAPS, WITHOUT_SCORE
from weaklink_analysis.doctor.mends import MEMORY_SPAN, mend
from weaklink_analysis.mai.rubrics import STRUCTURAL
from weaklink_processor.queue import framing

OPERATIONS = {
    "genai": {"write": "create_memory", "read": "search_memory"},
    "memledger": {"write": "add", "read": "recall", "outcome": "outcome", "lineage": "lineage"},
}
"""What these conventions call an operation; the others they do not count or do not have."""
RUN = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "unknown"}
INVALID = {"genai": {"memory.confidence": "high"}, "memledger": {"memledger.memory.confidence": "high"}}


@dataclass(frozen=True)
class Case:
    """A gap of an operation, in a convention."""

    convention: str
    operation: str
    gap: str

    def service(self, mended: bool) -> str:  # noqa: FBT001
        return f"{self.convention} {self.operation} {self.gap} {'with' if mended else 'without'}"


CASES = [
    Case(convention, operation, gap.code)
    for convention, operations in OPERATIONS.items()
    for gap in GAPS
    for operation in gap.operations
    if operation in operations
]


class Agent:
    """An instrumented program whose spans go to a list; memledger's go there, too, while it is at work."""

    def __init__(self, service: str, seen: InMemorySpanExporter) -> None:
        provider = TracerProvider(resource=Resource({"service.name": service}))
        provider.add_span_processor(SimpleSpanProcessor(seen))
        self.tracer: Tracer = provider.get_tracer("agent")
        traced_by(self.tracer)

    @contextmanager
    def bare(self, case: Case) -> Iterator[Span]:
        """A span that says of the operation nothing but what it is; of a confidence in words also that."""
        name = OPERATIONS[case.convention][case.operation]
        with self.tracer.start_as_current_span(
            name if case.convention == "genai" else f"memledger.memory.{name}"
        ) as span:
            key = "gen_ai.operation.name" if case.convention == "genai" else "memledger.memory.operation"
            span.set_attributes({key: name} | (INVALID[case.convention] if case.gap == "valid_confidence" else {}))
            yield span

    async def act(self, case: Case, ledger: Memledger, *, mended: bool) -> None:
        """Do the operation, with what mends the gap or without; for parents there is something read before."""
        if case.gap == "agent_run":
            await self._run(case, ledger, None, mended=mended)
            return
        with self.tracer.start_as_current_span("run", attributes=RUN) as run:
            if case.gap == "parents":
                with self.bare(Case(case.convention, "read", "")):
                    pass
            await self._run(case, ledger, run, mended=mended)

    async def _run(self, case: Case, ledger: Memledger, run: Span | None, *, mended: bool) -> None:
        code = "\n".join(mend(case.gap, case.convention, case.operation).code)
        in_place = "ledger" in code or "memory_span" in code or run is None
        if mended and in_place:  # the code makes the span itself, or encloses it
            await execute(code, self._own(case, ledger, run))
            return
        with self.bare(case) as span:
            if case.gap == "link_ids" and not mended:
                span.add_link(span.get_span_context(), {"memory.link": "derived_from"})
            if mended:
                await execute(code, self._own(case, ledger, run if case.gap == "session" else span))

    def _own(self, case: Case, ledger: Memledger, span: Span | None) -> dict[str, Any]:
        """What the code takes to be the user's own."""

        def work() -> None:
            if case.gap == "agent_run":
                with self.bare(case):
                    pass

        found = SimpleNamespace(id="r", confidence=0.8, agent="a")
        return {
            "span": span, "written": span, "tracer": self.tracer, "ledger": ledger, "json": json,
            "functools": functools, "memory_span": memory_span, "memory_id": "m",
            "operation": OPERATIONS[case.convention][case.operation], "confidence": 0.8, "agent": "a",
            "session": "s", "text": "what is known", "query": "what is known", "results": [found], "work": work,
        }  # fmt: skip


async def execute(code: str, names: dict[str, Any]) -> None:
    """Run the lines as they are printed, but for the dots, which stand for the user's work."""
    exec(f"async def printed():\n{indent(code.replace('...', 'work()'), '    ')}", names)  # noqa: S102
    names.setdefault("work", lambda: None)
    await names["printed"]()


async def known_ledger(file: Path) -> Memledger:
    """A real ledger that knows one thing, instrumented."""
    ledger = await ledger_at(file, get_tracer("nobody"))
    await ledger.add("what is known", confidence=0.8, created_by="a", session_id="s")
    return ledger


def examined(seen: InMemorySpanExporter, path: Path) -> dict[str, Any]:
    """What doctor says of all spans that were made."""
    path.write_bytes(framing.join([encode_spans(seen.get_finished_spans()).SerializeToString()]))
    return report(path)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is said of every case, once with what mends it and once without."""
    folder, seen = tmp_path_factory.mktemp("mends"), InMemorySpanExporter()

    async def act() -> None:
        for number, case in enumerate(CASES):
            ledger = await known_ledger(folder / f"{number}.db")
            for mended in (False, True):
                await Agent(case.service(mended), seen).act(case, ledger, mended=mended)
            await ledger.close()

    asyncio.run(act())
    return examined(seen, folder / "spans.binpb")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.service(mended=True))
def test_the_line_that_is_printed_mends_the_gap(said: dict[str, Any], case: Case) -> None:
    """Without it the gap is there, with these very lines; once they have run, the operation is there without it."""
    key = (case.operation, case.gap)
    gap = gaps(said, case.service(mended=False))[key]
    assert gap["mend"]["code"] == list(mend(case.gap, case.convention, case.operation).code)
    assert key not in gaps(said, case.service(mended=True))
    recognised = {
        (row["convention"], row["operation"])
        for row in said["recognised"]
        if row["service_name"] == case.service(mended=True)
    }
    assert (case.convention, case.operation) in recognised


def test_memledgers_own_search_is_mended(tmp_path: Path) -> None:
    """A search as memledger instruments it names nothing; after the printed lines nothing of it is lacking."""
    seen = InMemorySpanExporter()

    async def act() -> None:
        ledger = await known_ledger(tmp_path / "ledger.db")
        case = Case("memledger", "read", "ids")
        for service in ("as it is", "mended"):
            agent = Agent(service, seen)
            with agent.tracer.start_as_current_span("run", attributes=RUN):
                if service == "as it is":
                    await ledger.search("what is known")
                else:
                    await execute("\n".join(mend("ids", "memledger", "read").code), agent._own(case, ledger, None))
        await ledger.close()

    asyncio.run(act())
    said = examined(seen, tmp_path / "spans.binpb")
    assert set(gaps(said, "as it is")) == {("read", code) for code in ("ids", "confidence", "agent", "session")}
    assert set(gaps(said, "mended")) == set()


def test_a_stranger_becomes_a_memory_span(tmp_path: Path) -> None:
    """The line beneath spans that were not recognised makes them so."""
    seen = InMemorySpanExporter()
    for service in ("without", "with"):
        with Agent(service, seen).tracer.start_as_current_span("acme.recall") as span:
            if service == "with":
                asyncio.run(execute("\n".join(MEMORY_SPAN.code), {"span": span}))
    said = examined(seen, tmp_path / "spans.binpb")
    assert {hint["service_name"] for hint in said["hints"]} == {"without"}
    assert {(row["service_name"], row["operation"]) for row in said["recognised"]} == {("with", "read")}


@pytest.mark.parametrize("convention", [*(one.name for one in CONVENTIONS), "acme"])
def test_every_gap_has_advice(convention: str) -> None:
    """Each gap of each operation has its lines in every convention, also in one that the table does not know."""
    for gap in GAPS:
        for operation in gap.operations:
            assert mend(gap.code, convention, operation).code


def test_checks_are_called_what_they_are() -> None:
    """What a gap makes fail or leaves unanswered are checks of evaluations, or findings."""
    docs = Path(__file__).parents[2] / "docs"
    pages = (docs / "semantics.md").read_text() + (docs / "findings.md").read_text()
    named = {name for gap in GAPS for name in (*gap.fails, *gap.unanswered)}
    assert named & set(STRUCTURAL.weights)
    assert WITHOUT_SCORE in named
    assert [name for name in named if f"| `{name}` |" not in pages] == []
