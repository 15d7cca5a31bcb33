"""Requests as they come from agents at work: memory operations of both conventions among other spans, out of order."""

import json
import random
from collections.abc import Iterable, Sequence
from itertools import count

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from otlp import DAWN, SECOND, S, Value, read, request, span_id, trace_id, write

SpanKey = tuple[str, str]
"""trace_id and span_id in hex, as in the table `spans`."""

RICH = [
    KeyValue(key="tags", value=AnyValue(array_value=ArrayValue(values=[AnyValue(string_value="é"), AnyValue()]))),
    KeyValue(
        key="nested",
        value=AnyValue(kvlist_value=KeyValueList(values=[KeyValue(key="n", value=AnyValue(int_value=2**62))])),
    ),
    KeyValue(key="raw", value=AnyValue(bytes_value=b"\x00\xff")),
    KeyValue(key="text", value=AnyValue(string_value='it\'s "quoted"\n\t☃ 🧠')),
    KeyValue(key="ratio", value=AnyValue(double_value=0.1)),
    KeyValue(key="flag", value=AnyValue(bool_value=False)),
]


def workload(seed: int, requests: int, spans_each: int = 6) -> list[bytes]:
    """The same requests for the same seed. Every trace has memory operations but each fifth."""
    rng = random.Random(seed)
    spans = _spans(rng, requests * spans_each)
    # A moderate disorder: what belongs together arrives in different requests, children before parents.
    spans = [s for _, s in sorted(enumerate(spans), key=lambda pair: pair[0] + rng.uniform(0, 40))]
    messages = [request(spans[n : n + spans_each]) for n in range(0, requests * spans_each, spans_each)]
    for message in messages:
        _enrich(message, rng)
    return [message.SerializeToString() for message in messages]


def bulk(requests: int, spans_each: int) -> list[bytes]:
    """Many spans cheaply: 32 a trace, one in sixteen a memory write derived from the one before."""
    numbers = count(1)
    return [_bulk_request([next(numbers) for _ in range(spans_each)]) for _ in range(requests)]


def keys(payloads: Iterable[bytes]) -> set[SpanKey]:
    """The spans of these requests."""
    return {(span.trace_id.hex(), span.span_id.hex()) for payload in payloads for span in spans_of(payload)}


def spans_of(payload: bytes) -> list[Span]:
    """The spans of one request, in order."""
    message = ExportTraceServiceRequest.FromString(payload)
    return [span for each in message.resource_spans for scope in each.scope_spans for span in scope.spans]


def joined(payloads: Iterable[bytes]) -> bytes:
    """One request with the spans of all."""
    return b"".join(payloads)  # serialized messages, put end to end, are their merger


def _spans(rng: random.Random, total: int) -> list[S]:
    spans: list[S] = []
    memories: list[str] = []
    for trace in count(1):
        if len(spans) >= total:
            return spans[:total]
        environment = rng.choice(["production", "production", "staging"])
        at = trace * 10.0
        root = S(
            trace,
            1,
            f"invoke_agent {trace}",
            start=at,
            end=at + 9,
            environment=environment,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": f"agent-{trace % 4}",
                "gen_ai.conversation.id": f"talk-{trace % 7}",
            },
        )
        spans.append(root)
        for number in range(2, rng.randint(6, 14)):
            spans.append(_child(rng, root, number, memories))
            if rng.random() < 0.03:
                spans.append(spans[-1])
    raise AssertionError


def _child(rng: random.Random, root: S, number: int, memories: list[str]) -> S:
    trace, at, environment = root.trace, root.start + number / 2, root.environment
    place = {"parent": 1, "environment": environment}
    kind = "plain" if trace % 5 == 0 else rng.choice(["write", "write", "read", "genai", "found", "search", "plain"])
    known = rng.choice(memories) if memories else "m-unknown"
    match kind:
        case "write":
            memory = rng.choice([f"m-{trace}-{number}", known])
            parents = rng.sample(memories, min(len(memories), rng.choice([0, 1, 1, 2])))
            memories.append(memory)
            return write(trace, number, memory, rng.choice(CONFIDENCES), at, parents=parents, **place, **_author(rng))
        case "read":
            return read(trace, number, known, rng.choice(CONFIDENCES), at, **place, **_author(rng))
        case "genai":
            memories.append(f"g-{trace}-{number}")
            stored: dict[str, Value] = {
                "gen_ai.operation.name": "create_memory",
                "gen_ai.memory.record.id": memories[-1],
                "memory.confidence": rng.random(),
                "memory.derived_from": [known],
            }
            return S(trace, number, "create_memory notes", start=at, end=at, attributes=stored, parent=1,
                     environment=environment)  # fmt: skip
        case "found":
            records = [{"id": name, "score": 0.5, "metadata": {"confidence": 0.8}} for name in [known, f"x-{number}"]]
            found = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": json.dumps(records)}
            return S(trace, number, "search_memory", start=at, end=at, attributes=found, parent=1,
                     environment=environment)  # fmt: skip
        case "search":
            asked: dict[str, Value] = {
                "memledger.memory.operation": "search",
                "memledger.query": "pool",
                "memledger.result_count": 3,
            }
            return S(trace, number, "memledger.memory.search", start=at, end=at, attributes=asked, parent=1,
                     environment=environment)  # fmt: skip
    return S(trace, number, "tool call", start=at, end=at + 0.25, parent=1, environment=environment,
             attributes={"tool": "psql"}, error=rng.random() < 0.2)  # fmt: skip


CONFIDENCES = (0.1, 0.3, 0.45, 0.6, 0.85, 0.95, 1, "0.7", None)


def _author(rng: random.Random) -> dict[str, object]:
    return {
        "agent": rng.choice(["triage", "diagnosis", "", "unknown"]),
        "session": rng.choice(["s-1", "s-2", ""]),
        "hedged": rng.random() < 0.3,
    }


def _enrich(message: ExportTraceServiceRequest, rng: random.Random) -> None:
    for resource in message.resource_spans:
        for scope in resource.scope_spans:
            scope.scope.name = "instrumentation"
            for span in scope.spans:
                if rng.random() < 0.3:
                    _enrich_span(span)


def _enrich_span(span: Span) -> None:
    span.kind = Span.SPAN_KIND_CLIENT
    span.trace_state = "vendor=1"
    span.attributes.extend(RICH)
    span.events.add(time_unix_nano=span.start_time_unix_nano, name="tick", attributes=RICH[:2])
    span.links.add(trace_id=trace_id(1), span_id=span_id(1), attributes=RICH[3:4])


def _bulk_request(numbers: Sequence[int]) -> bytes:
    service = KeyValue(key="service.name", value=AnyValue(string_value="bulk"))
    resource = ResourceSpans(scope_spans=[ScopeSpans(spans=[_bulk_span(number) for number in numbers])])
    resource.resource.attributes.append(service)
    return ExportTraceServiceRequest(resource_spans=[resource]).SerializeToString()


def _bulk_span(number: int) -> Span:
    time = DAWN + number * SECOND // 1000
    span = Span(
        trace_id=trace_id(1 + number // 32),
        span_id=span_id(number),
        name="tool call",
        start_time_unix_nano=time,
        end_time_unix_nano=time,
        attributes=RICH[3:],
    )
    if number % 16 == 0:
        span.name = "memledger.memory.add"
        for key, value in {
            "memledger.memory.operation": "add",
            "memledger.memory.id": f"m-{number}",
            "memledger.memory.source_agent_id": f"agent-{number % 5}",
            "memledger.memory.parent_ids": json.dumps([f"m-{number - 16}"]),
        }.items():
            span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=value)))
        confidence = AnyValue(double_value=0.2 + number % 80 / 100)
        span.attributes.append(KeyValue(key="memledger.memory.confidence", value=confidence))
    return span
