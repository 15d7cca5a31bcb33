"""The load of the benchmarks: spans of agents at work, in requests that are made before time is taken (generator.py).

    python bench/load.py FILE.binpb [--spans 102400] [--spans-per-request 512]

writes a file that `weaklink replay` reads. Traces of 10 spans, of about 820 bytes and 12 attributes; 40 % are
memledger's memory spans, half writes with 0 to 3 parents among recent memories, half reads of one of those.
"""

import argparse
import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from uuid import UUID

import numpy as np
import numpy.typing as npt
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_processor.queue import framing

Value = str | bool | int | float
Attributes = dict[str, Value]
Trace = list[tuple[str, Attributes]]
"""Spans by their names and attributes, the first above all others."""
TraceKeys = npt.NDArray[np.uint64]

DISTINCT_SPANS = 102_400
"""Spans that are made; a longer run sends them again under other ids."""
DAWN = 1_790_000_000_000_000_000  # nanoseconds: in 2026
STEP = 1_000_000  # nanoseconds between two spans
RECENT = 200  # memories that may be read and built upon

RESOURCE: Mapping[str, Value] = {
    "service.name": "agent",
    "service.version": "1.2.0",
    "deployment.environment.name": "production",
    "telemetry.sdk.language": "python",
    "telemetry.sdk.name": "opentelemetry",
    "telemetry.sdk.version": "1.45.0",
}

HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
SPAN_IDS = re.compile(rb"\x12[\x80-\xff][\x01-\x7f]\x0a\x10(.{16})\x12\x08(.{8})(?:\x22\x08(.{8}))?", re.DOTALL)
"""How a span of 128 to 16,383 bytes begins on the wire: trace id, span id, and the parent's if it has one."""
TEXT_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CHANGED = 8  # bytes of an id, or hex digits of one that is text, that change from pass to pass


class Template:
    """A request that is sent many times, each time under ids of its own."""

    def __init__(self, payload: bytes) -> None:
        self._bytes = np.frombuffer(bytearray(payload), np.uint8)
        # From each place on eight bytes as one number: cheaper to change than one by one.
        self._words = np.ndarray((len(payload) - CHANGED + 1,), np.uint64, self._bytes.data, strides=(1,))
        spans = SPAN_IDS.finditer(payload)
        starts = [tuple(map(span.start, (1, 2, 3))) for span in spans]  # -1: no parent
        self._binary_at = np.array([start for of_span in starts for start in of_span if start >= 0])
        self._binary = self._words[self._binary_at]
        self._traces: TraceKeys = np.unique(self._words[[trace for trace, *_ in starts]])
        self._text_at = np.array([[found.start()] for found in TEXT_ID.finditer(payload)]) + np.arange(CHANGED)
        self._digits = np.searchsorted(HEX, self._bytes[self._text_at]).astype(np.uint8)

    def stamped(self, number: int) -> bytes:
        """Return the request of this pass: equal ids stay equal, and no id is one of another pass."""
        mask = _mask(number)
        self._words[self._binary_at] = self._binary ^ mask.view(np.uint64)
        self._bytes[self._text_at] = HEX[self._digits ^ (mask & 15)]
        return self._bytes.tobytes()

    def traces(self, number: int) -> TraceKeys:
        """Return which traces have spans in the request of this pass."""
        return self._traces ^ _mask(number).view(np.uint64)


def trace_keys(trace_ids: Iterable[bytes]) -> TraceKeys:
    """Return what tells traces apart here: the first eight bytes of their ids."""
    return np.frombuffer(b"".join(trace_id[:CHANGED] for trace_id in trace_ids), np.uint64)


def _mask(number: int) -> npt.NDArray[np.uint8]:
    return np.frombuffer(hashlib.blake2b(number.to_bytes(8), digest_size=CHANGED).digest(), np.uint8)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a read shows of a memory."""

    id: str
    confidence: float
    agent: str


@dataclass(slots=True)
class Run:
    """Agents at work: an endless row of traces, the same for the same seed."""

    rng: Random
    vocabulary: Sequence[str] = ()
    recent: deque[Memory] = field(default_factory=lambda: deque(maxlen=RECENT))
    now: int = DAWN
    agent: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        self.vocabulary = [self._word() for _ in range(50_000)]

    def spans(self) -> Iterator[Span]:
        """Yield the spans of one trace after the other; the root first, and as long as all the others."""
        while True:
            self.agent, self.session = f"agent-{self.rng.randrange(40)}", self._id()
            trace_id, root_id = self.rng.randbytes(16), self.rng.randbytes(8)
            for position, (name, attributes) in enumerate(TRACE):
                self.now += STEP
                yield Span(
                    trace_id=trace_id,
                    span_id=self.rng.randbytes(8) if position else root_id,
                    parent_span_id=root_id if position else b"",
                    name=name,
                    kind=Span.SPAN_KIND_CLIENT if name == "chat" else Span.SPAN_KIND_INTERNAL,
                    start_time_unix_nano=self.now,
                    end_time_unix_nano=self.now + (self.rng.randrange(STEP) if position else len(TRACE) * STEP),
                    flags=0x101,
                    attributes=key_values(attributes(self)),
                )

    def invoke(self) -> Attributes:
        """Return what is on the span of an agent."""
        return {
            "openinference.span.kind": "AGENT",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self.agent,
            "gen_ai.agent.id": self.agent,
            "gen_ai.conversation.id": self.session,
            "session.id": self.session,
            "user.id": self._words(1),
            "gen_ai.usage.input_tokens": self.rng.randrange(100_000),
            "gen_ai.usage.output_tokens": self.rng.randrange(10_000),
            "input.value": self._words(22),
            "output.value": self._words(17),
        }

    def chat(self) -> Attributes:
        """Return what is on the span of a model call."""
        return {
            "openinference.span.kind": "LLM",
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "anthropic",
            "gen_ai.request.model": "claude",
            "gen_ai.request.temperature": round(self.rng.random(), 1),
            "gen_ai.request.max_tokens": 4096,
            "gen_ai.usage.input_tokens": self.rng.randrange(100_000),
            "gen_ai.usage.output_tokens": self.rng.randrange(10_000),
            "gen_ai.response.id": self.rng.randbytes(12).hex(),
            "gen_ai.conversation.id": self.session,
            "input.value": self._words(28),
            "output.value": self._words(20),
        }

    def tool(self) -> Attributes:
        """Return what is on the span of a tool's call."""
        return {
            "openinference.span.kind": "TOOL",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": self.rng.choice(("search", "shell", "browse", "sql")),
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": self.rng.randbytes(12).hex(),
            "gen_ai.conversation.id": self.session,
            "gen_ai.tool.description": self._words(8),
            "server.address": self._words(1),
            "server.port": self.rng.randrange(65_536),
            "input.value": self._words(22),
            "output.value": self._words(25),
        }

    def write(self) -> Attributes:
        """Return what memledger puts on the span of an `add`."""
        parents = self.rng.sample(self.recent, k=min(self.rng.randrange(4), len(self.recent)))
        memory = Memory(self._id(), round(self.rng.random(), 3), self.agent)
        self.recent.append(memory)
        parent_ids = json.dumps([parent.id for parent in parents])
        return self._memory("add", memory) | {"memledger.memory.parent_ids": parent_ids, "input.value": self._words(16)}

    def read(self) -> Attributes:
        """Return what memledger puts on the span of a `recall`."""
        found: Attributes = {"memledger.top_k": 8, "memledger.result_count": 1, "memledger.query": self._words(20)}
        return self._memory("recall", self.rng.choice(self.recent)) | found

    def _memory(self, operation: str, memory: Memory) -> Attributes:
        return {
            "openinference.span.kind": "RETRIEVER",
            "memledger.memory.id": memory.id,
            "memledger.memory.type": self.rng.choice(("semantic", "episodic", "procedural")),
            "memledger.memory.confidence": memory.confidence,
            "memledger.memory.source_agent_id": memory.agent,
            "memledger.memory.session_id": self.session,
            "memledger.memory.namespace": f"/team-{self.rng.randrange(8)}",
            "memledger.memory.operation": operation,
            "memledger.memory.hedged": self.rng.random() < 0.2,  # noqa: PLR2004
        }

    def _id(self) -> str:
        return str(UUID(bytes=self.rng.randbytes(16), version=4))

    def _word(self) -> str:
        return "".join(self.rng.choices("abcdefghijklmnopqrstuvwxyz", k=self.rng.randint(3, 11)))

    def _words(self, count: int) -> str:
        return " ".join(self.rng.choices(self.vocabulary, k=count))


TRACE: Sequence[tuple[str, Callable[[Run], Attributes]]] = (
    ("invoke_agent", Run.invoke),
    ("memledger.memory.add", Run.write),
    ("chat", Run.chat),
    ("memledger.memory.recall", Run.read),
    ("execute_tool", Run.tool),
    ("chat", Run.chat),
    ("memledger.memory.add", Run.write),
    ("chat", Run.chat),
    ("memledger.memory.recall", Run.read),
    ("chat", Run.chat),
)
"""The spans of a trace in order: name and attributes."""


def requests(spans_per_request: int, seed: int = 0) -> Iterator[bytes]:
    """Yield serialized ExportTraceServiceRequests without end; traces are cut where a request is full."""
    spans = Run(Random(seed)).spans()
    while True:
        message = ExportTraceServiceRequest()
        resource_spans = message.resource_spans.add()
        resource_spans.resource.attributes.extend(key_values(RESOURCE))
        scope_spans = resource_spans.scope_spans.add()
        scope_spans.scope.name = "bench"
        scope_spans.spans.extend(islice(spans, spans_per_request))
        yield message.SerializeToString()


def request_of(traces: Sequence[Trace], first: int = 1) -> bytes:
    """Make one request of small traces; `first` is the number of the first, by which its id and its time are given."""
    message = ExportTraceServiceRequest()
    spans = message.resource_spans.add().scope_spans.add().spans
    for number, trace in enumerate(traces, first):
        for place, (name, attributes) in enumerate(trace):
            start = DAWN + (number * len(trace) + place) * STEP
            spans.append(
                Span(
                    trace_id=number.to_bytes(16),
                    span_id=(place + 1).to_bytes(8),
                    parent_span_id=b"" if place == 0 else (1).to_bytes(8),
                    name=name,
                    start_time_unix_nano=start,
                    end_time_unix_nano=start + STEP,
                    attributes=key_values(attributes),
                )
            )
    return message.SerializeToString()


def key_values(attributes: Mapping[str, Value]) -> list[KeyValue]:
    """Return attributes as a span has them."""
    return [KeyValue(key=key, value=_any_value(value)) for key, value in attributes.items()]


def _any_value(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
    return AnyValue(string_value=value)


def main() -> None:
    """Write a replay file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--spans", type=int, default=DISTINCT_SPANS, help="rounded up to whole requests")
    parser.add_argument("--spans-per-request", type=int, default=512)
    chosen = parser.parse_args()
    count = -(-chosen.spans // chosen.spans_per_request)
    with chosen.file.open("wb") as file:
        for request in islice(requests(chosen.spans_per_request), count):
            file.write(framing.join([request]))


if __name__ == "__main__":
    main()
