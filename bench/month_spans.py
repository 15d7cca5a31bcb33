"""How the services of a month say what they do: spans of memledger or of GenAI memory operations, model calls, tools.

A span is made of a body, which the same texts may share, and of a head with its ids and times.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from load import Attributes, Run, key_values
from weaklink_processor.queue import framing

BODIES = 512
"""Different model calls, and as many calls of tools: whoever makes millions takes the same texts again."""
SOUND = 0.9
"""A confidence above it may be left for weaklink to derive from where the memory comes from."""
CACHED = 0.3
"""Of the reads of a rewritten memory, those that show what it said before."""
SOURCES = ("direct_statement", "tool_output", "model_inference")

_HEAD = struct.Struct(">2s16s2s8s")
_TIMES = struct.Struct("<cQcQ")


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it was last written."""

    id: str
    type: str
    confidence: float
    effective: float
    agent: str
    session: str
    hedged: bool
    parents: tuple[str, ...] = ()
    stale: float | None = None
    """The confidence before it was rewritten, which some caches still show."""


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """What a service puts on spans of memory; None for an agent that it does not name."""

    service: str
    rng: Random
    genai: bool
    nameless_reads: float

    def reads(self, memories: Sequence[Memory], told: str | None) -> list[bytes]:
        """Return the spans of a search: one for all that it found, or one a memory."""
        if self.genai:
            return [self._genai("search_memory", memories, told)]
        return [self._recall(memory, told) for memory in memories]

    def write(self, memory: Memory, told: str | None) -> bytes:
        """Return the span of a write."""
        if self.genai:
            return self._genai("upsert_memory", [memory], told)
        parents: Attributes = {"memledger.memory.parent_ids": json.dumps(memory.parents)}
        return body("memledger.memory.add", self._memledger("add", memory, told) | parents)

    def outcome(self, memory: Memory) -> bytes:
        """Return the span that says how relying on a memory turned out: as its effective confidence promised."""
        named: Attributes = {"memledger.memory_id": memory.id, "memledger.success": self._chance(memory.effective)}
        return body("memledger.record_outcome", named)

    def _recall(self, memory: Memory, told: str | None) -> bytes:
        if self._chance(self.nameless_reads):
            return body("memledger.memory.search", {"memledger.query": "open invoices", "memledger.result_count": 1})
        shown: Attributes = {"memledger.memory.confidence": self._shown(memory)}
        return body(
            "memledger.memory.recall", self._memledger("recall", memory, memory.agent if told else None) | shown
        )

    def _memledger(self, operation: str, memory: Memory, agent: str | None) -> Attributes:
        named: Attributes = {
            "memledger.memory.operation": operation,
            "memledger.memory.id": memory.id,
            "memledger.memory.type": memory.type,
            "memledger.memory.confidence": memory.confidence,
            "memledger.memory.namespace": f"/{self.service}/{memory.type}",
            "memledger.memory.hedged": memory.hedged,
        }
        if memory.session:
            named["memledger.memory.session_id"] = memory.session
        return named | ({"memledger.memory.source_agent_id": agent} if agent else {})

    def _genai(self, operation: str, memories: Sequence[Memory], told: str | None) -> bytes:
        records = [
            {"id": memory.id, "score": 0.9, "metadata": self._metadata(operation, memory)} for memory in memories
        ]
        named: Attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "month",
            "gen_ai.memory.store.id": self.service,
            "gen_ai.memory.records": json.dumps(records),
        }
        return body(operation, named | ({"memory.agent.id": told} if told else {}))

    def _metadata(self, operation: str, memory: Memory) -> dict[str, object]:
        said: dict[str, object] = {"type": memory.type, "created_by": memory.agent, "session_id": memory.session}
        if operation == "upsert_memory":
            said["derived_from"] = memory.parents
            if memory.confidence > SOUND and self._chance(0.3):
                return said | {"source": self.rng.choice(SOURCES), "confirmed": True}
        return said | {"confidence": self._shown(memory), "hedged": memory.hedged}

    def _shown(self, memory: Memory) -> float:
        return memory.stale if memory.stale is not None and self._chance(CACHED) else memory.confidence

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share


@cache
def work() -> tuple[list[bytes], list[bytes]]:
    """Return bodies of model calls and of calls of tools."""
    texts = Run(Random(0))
    chats = [body("chat", texts.chat(), Span.SPAN_KIND_CLIENT) for _ in range(BODIES)]
    tools = [body("execute_tool", texts.tool(), failed=number % 40 == 0) for number in range(BODIES)]
    return chats, tools


def body(
    name: str, attributes: Attributes, kind: Span.SpanKind.ValueType = Span.SPAN_KIND_INTERNAL, *, failed: bool = False
) -> bytes:
    """Serialize a span without its ids and times, to which these can be appended in any order."""
    kept = {key: value for key, value in attributes.items() if key != "gen_ai.conversation.id"}
    span = Span(name=name, kind=kind, attributes=key_values(kept))
    if failed:
        span.status.code = Status.STATUS_CODE_ERROR
    return span.SerializeToString()


def head(trace: bytes, span: bytes, parent: bytes, start: int, end: int) -> bytes:
    """Serialize a span's ids and times (nanoseconds); an empty parent is none."""
    above = b"\x22\x08" + parent if parent else b""
    return _HEAD.pack(b"\x0a\x10", trace, b"\x12\x08", span) + above + _TIMES.pack(b"\x39", start, b"\x41", end)


def request(resource: bytes, spans: Sequence[bytes]) -> bytes:
    """Serialize an ExportTraceServiceRequest of a serialized Resource's spans."""
    scope = InstrumentationScope(name="month").SerializeToString()
    scope_spans = _part(b"\x0a", scope) + b"".join(_part(b"\x12", span) for span in spans)
    return _part(b"\x0a", _part(b"\x0a", resource) + _part(b"\x12", scope_spans))


def _part(tag: bytes, message: bytes) -> bytes:
    return tag + framing.join([message])
