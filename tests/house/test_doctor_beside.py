"""What `weaklink doctor` advises where a framework has no words: told beside, its own spans left out, all is said."""

import asyncio
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
import yaml
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from covered import file_of, gaps, report
from otlp import S
from weaklink_analysis import emit
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.doctor.beside import BESIDE_MENDS
from weaklink_analysis.doctor.mend import ANY, Mend
from weaklink_analysis.doctor.mends import mend
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.config import Config
from weaklink_processor.decode.batch import decode
from weaklink_processor.queue import framing
from weaklink_processor.receive import otlp_json
from weaklink_processor.wiring import limits

CAPTURED = Path(__file__).parents[1] / "conventions" / "captured"
KNOWN = {"confidence": 0.8, "created_by": "a", "session_id": "s"}
Answer = Callable[[object], Callable[..., Any]]


@dataclass(frozen=True)
class Framework:
    """A framework's call: the span that it makes by itself, and what the lines take to be there."""

    convention: str
    operation: str
    span: str
    attributes: Mapping[str, str]
    names: Callable[[Answer, Answer], Mapping[str, object]]
    """Of functions that make the span and answer so, at once or when awaited."""
    use: str = ""
    """What the user does after the lines."""

    def __str__(self) -> str:
        return f"{self.convention} {self.operation}"

    @property
    def mends(self) -> Mapping[str, Mend]:
        """What mends each gap of it so."""
        own = {(self.convention, self.operation), (self.convention, ANY)}
        return {gap: advice for (gap, *key), advice in BESIDE_MENDS.items() if tuple(key) in own}

    @property
    def mend(self) -> Mend:
        (advice,) = set(self.mends.values())
        return advice


N = SimpleNamespace
ADDED = {"results": [{"id": "m", "memory": "what is known", "event": "ADD", "metadata": KNOWN}]}
MEM0 = {"gen_ai.operation.name": "memory_operation", "gen_ai.memory.operation": "add", "gen_ai.memory.id": "m"}
FRAMEWORKS = (
    Framework(
        "agentcore", "write", "CreateEvent", {"memory.id": "ops"},
        lambda now, _: {"client": N(create_event=now({"eventId": "m"})), "memory": "ops", "messages": []},
    ),
    Framework(
        "agentcore", "read", "Bedrock AgentCore.RetrieveMemoryRecords", {"gen_ai.memory.id": "ops"},
        lambda now, _: {
            "client": N(retrieve_memories=now([{"memoryRecordId": "m"}])), "memory": "ops", "namespace": "/ops",
        },
    ),
    Framework(
        "cognee", "write", "cognee.api.remember", {},
        lambda _, later: {"cognee": N(remember=later(N(entry_id=None, items=[{"id": "m"}])))},
    ),
    Framework(
        "cognee", "read", "cognee.api.recall", {},
        lambda _, later: {"cognee": N(recall=later([N(metadata={"data_id": "m"})])), "SearchType": N(CHUNKS="CHUNKS")},
    ),
    Framework(
        "memory_semconv", "write", "memory.add", {"memory.operation": "add"},
        lambda now, _: {"cube": N(text_mem=N(add=now(None))), "item": N(id="m")},
    ),
    Framework(
        "memory_semconv", "read", "memory.search", {"memory.operation": "search"},
        lambda now, _: {"cube": N(text_mem=N(search=now([N(id="m")]))), "top_k": 3},
    ),
    Framework(
        "graphiti", "write", "graphiti.add_episode", {},
        lambda _, later: {
            "graphiti": N(add_episode=later(N(episode=N(uuid="m"), edges=[N(uuid="fact")]))),
            **dict.fromkeys(("name", "source_description", "reference_time")),
        },
    ),
    Framework(
        "graphiti", "read", "graphiti.search.execute_scopes", {},
        lambda _, later: {"graphiti": N(search=later([N(uuid="fact", episodes=["m"])]))},
    ),
    Framework(
        "vector_stores", "write", "chroma.upsert", {"db.system": "chroma", "db.operation": "upsert"},
        lambda now, _: {"collection": N(upsert=now(None)), "memory_id": "m"},
    ),
    Framework(
        "vector_stores", "read", "chroma.get", {"db.system": "chroma", "db.operation": "get"},
        lambda now, _: {"collection": N(get=now({"ids": ["m"], "metadatas": [KNOWN]})), "memory_ids": ["m"]},
    ),
    Framework(
        "mem0_loongsuite", "write", "memory_operation add", MEM0, lambda now, _: {"memory": N(add=now(ADDED))},
        use="memory.add(text, user_id='u', metadata=known('m') | {'derived_from': ['r']})",
    ),
    Framework(
        "mem0_agentops", "read", "mem0.memory.search", {}, lambda now, _: {"memory": N(search=now(ADDED))},
        use="memory.search(query, filters={'user_id': 'u'})",
    ),
)  # fmt: skip


class Agent:
    """A program that reads a memory, and then works with a framework, alone or as it is advised."""

    def __init__(self, seen: InMemorySpanExporter, service: str) -> None:
        self._provider = TracerProvider(resource=Resource({"service.name": service}), shutdown_on_exit=False)
        self._provider.add_span_processor(SimpleSpanProcessor(seen))

    async def work(self, framework: Framework, monkeypatch: pytest.MonkeyPatch, *, advised: bool) -> None:
        tracer = self._provider.get_tracer("framework")

        def now(answer: object) -> Callable[..., object]:
            def call(*_: object, **__: object) -> object:
                tracer.start_span(framework.span, attributes=framework.attributes).end()
                return answer

            return call

        def later(answer: object) -> Callable[..., Awaitable[object]]:
            async def call(*_: object, **__: object) -> object:
                return now(answer)()

            return call

        monkeypatch.setattr(emit.emitter.GLOBAL, "_provider", self._provider)
        monkeypatch.setattr(emit.emitter.GLOBAL, "_tracer", None)
        with emit.agent_run("a", session="s"):
            emit.found([emit.record("r", confidence=0.8, created_by="a", session_id="s")])
            if not advised:
                now(None)()
                return
            own = {
                "confidence": 0.8, "agent": "a", "session": "s", "text": "what is known", "query": "what is known",
                "results": [N(id="r")], "known": lambda _: KNOWN, **framework.names(now, later),
            }  # fmt: skip
            lines = "\n".join((*framework.mend.code, framework.use))
            if "memory = " in lines:
                lines = f"global memory\n{lines}"
            exec(f"async def printed():\n{indent(lines, '    ')}", own)  # noqa: S102
            await own["printed"]()  # type: ignore[operator]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spans of all frameworks, each at work alone and as it is advised."""
    seen = InMemorySpanExporter()

    async def work() -> None:
        for framework in FRAMEWORKS:
            for service in ("alone", "advised"):
                with pytest.MonkeyPatch.context() as monkeypatch:
                    agent = Agent(seen, f"{framework} {service}")
                    await agent.work(framework, monkeypatch, advised=service == "advised")

    asyncio.run(work())
    path = tmp_path_factory.mktemp("beside") / "spans.binpb"
    path.write_bytes(framing.join([encode_spans(seen.get_finished_spans()).SerializeToString()]))
    return path


@pytest.fixture(scope="module")
def alone(file: Path) -> dict[str, Any]:
    """What is said of them without any settings."""
    return report(file)


@pytest.fixture(scope="module")
def advised(file: Path) -> dict[str, Any]:
    """What is said of them with the settings that go with the lines."""
    conventions = own_conventions(framework.mend for framework in FRAMEWORKS)
    config = file.with_name("weaklink.yaml")
    config.write_text(yaml.safe_dump({"analysis": {"conventions": [*conventions.values()]}}))
    return report(file, "--config", config)


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=str)
def test_what_is_told_beside_lacks_nothing(
    alone: dict[str, Any], advised: dict[str, Any], framework: Framework
) -> None:
    """Alone it lacks this, with these lines; when they have run and its spans are left out, nothing is lacking."""
    lacking = gaps(alone, f"{framework} alone")
    beside = {gap for (_, gap), found in lacking.items() if found["mend"]["code"] == [*framework.mend.code]}
    assert beside
    assert beside == {gap for _, gap in lacking} & {*framework.mends}
    assert gaps(advised, f"{framework} advised") == {}
    rows = [row for row in advised["recognised"] if row["service_name"] == f"{framework} advised" and row["counted"]]
    assert {row["convention"] for row in rows} == {"genai"}
    assert framework.operation in {row["operation"] for row in rows if row["operation"] != "read" or row["records"] > 1}


KEYS = sorted({(convention, operation) for _, convention, operation in BESIDE_MENDS} - {("vector_stores", "read")})
"""Of vector stores those reads alone are left out that tell nothing."""


def own_conventions(mends: Iterable[Mend]) -> dict[str, dict[str, Any]]:
    """What the settings of all of them have, by its name."""
    sections = (yaml.safe_load("\n".join(one.settings))["analysis"]["conventions"] for one in mends)
    return {own["name"]: own for section in sections for own in section}


@cache
def captured(*, leaving_out: bool) -> Counter[tuple[str, str]]:
    """How often each convention and operation is known on all captured spans, with the settings or without."""
    requests = [otlp_json.to_protobuf(path.read_bytes(), limits(Config())) for path in sorted(CAPTURED.glob("*.json"))]
    own = [
        Convention(name, tuple(s.get("names", ())), tuple(s.get("reads", ())), own_sql=s["sql"])
        for name, s in own_conventions(BESIDE_MENDS.values()).items()
    ]
    recogniser = Recogniser(duckdb.connect(), (), (*own, *CONVENTIONS) if leaving_out else CONVENTIONS)
    rows = recogniser.recognise(decode(requests)).operations.to_pylist()
    return Counter((row["convention"], kind) for row in rows for kind in (row["kind"], ANY))


@pytest.mark.parametrize(("convention", "operation"), KEYS)
def test_the_settings_leave_out_what_the_framework_emits(convention: str, operation: str) -> None:
    """Of all captured spans none is left that the convention knows as this operation; without them it knows some."""
    assert captured(leaving_out=False)[convention, ANY] > 0
    assert captured(leaving_out=True)[convention, operation] == 0


TRACER = """
const trace = { getTracer: () => ({ startSpan: (name, { attributes }) => {
  console.log(JSON.stringify({ name, attributes }));
  return { end() {} };
} }) };
const memory = { recall: async () => ({ messages: [{ id: "m" }] }), saveMessages: async () => {} };
const known = () => ({ confidence: 0.8, created_by: "a", session_id: "s" });
const [confidence, agent, session, threadId, resourceId, results] = [0.8, "a", "s", "s", "u", [{ id: "r" }]];
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_what_mastra_tells_beside(tmp_path: Path) -> None:
    """The lines are TypeScript's: run by node, with a tracer that prints, they make spans that lack nothing."""
    run = {"gen_ai.operation.name": "invoke_agent"}
    spans = []
    for trace, operation in enumerate(("write", "read"), 1):
        _import, *lines = mend("confidence", "mastra", operation).code
        given = "const messages = [{ id: 'm' }];" if operation == "write" else ""
        (tmp_path / "told.mjs").write_text("\n".join((TRACER, given, *lines)))
        span = json.loads(subprocess.run(["node", tmp_path / "told.mjs"], capture_output=True, check=True).stdout)  # noqa: S607
        spans += [S(trace, 1, "run", 0, 0, 9, run), S(trace, 2, span["name"], 1, 1, 2, span["attributes"])]
    said = report(file_of(tmp_path / "spans.binpb", spans))
    assert gaps(said, "svc") == {}
    assert {(row["convention"], row["operation"]) for row in said["recognised"]} == {
        ("genai", "write"),
        ("genai", "read"),
    }
