"""What decoding costs on one core: spans/s, CPU-seconds per million spans, and where they go.

    python bench/decode.py [--requests 60] [--rounds 15] [--profile]

Each request holds 512 spans of about 820 bytes and 12 attributes, with random words for text; 40 % of
them are memory spans. Besides decode(), picking 14 and 40 attribute keys into columns is timed.
"""

import argparse
import cProfile
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from types import CodeType, FunctionType

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from weaklink_analysis.batch import pick_attributes
from weaklink_processor.decode import attributes, batch, columns, descriptor, entries, values
from weaklink_processor.decode.batch import decode

Value = str | bool | int | float

SPANS_PER_REQUEST = 512
MEMORY_SHARE = 0.4

RESOURCE = {
    "service.name": "agent",
    "service.version": "1.2.0",
    "deployment.environment.name": "production",
    "telemetry.sdk.language": "python",
    "telemetry.sdk.name": "opentelemetry",
    "telemetry.sdk.version": "1.45.0",
}

STAGES: Mapping[str, Sequence[Callable[..., object]]] = {
    "ptars": [descriptor.read],
    "attributes": [attributes.decode_attributes],
    "  scalar values": [values.read_values],
    "  read singly": [entries._read_singly],  # noqa: SLF001
    "  copy keys and texts": [entries._Pool.take],  # noqa: SLF001
    "ids, times, names": [columns.span_columns, columns.key_columns],
    "events, links": [columns.event_column, columns.link_column],
    "resource and scope": [columns.resource_columns, columns.scope_columns, batch._spread],  # noqa: SLF001
}
"""Stage -> its functions; indented: a part of the stage above."""


def words(rng: Random, count: int) -> str:
    """Text that does not repeat itself."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(count))


def memory_attributes(rng: Random) -> dict[str, Value]:
    """What memledger puts on the span of a write."""
    return {
        "openinference.span.kind": "RETRIEVER",
        "memledger.memory.id": rng.randbytes(8).hex(),
        "memledger.memory.type": rng.choice(["semantic", "episodic", "procedural"]),
        "memledger.memory.confidence": rng.random(),
        "memledger.memory.source_agent_id": words(rng, 1),
        "memledger.memory.session_id": rng.randbytes(8).hex(),
        "memledger.memory.parent_ids": f'["{rng.randbytes(8).hex()}"]',
        "memledger.memory.namespace": words(rng, 1),
        "memledger.memory.operation": "add",
        "memledger.memory.hedged": rng.choice([False, True]),
        "memledger.query": words(rng, 24),
        "memledger.top_k": rng.randrange(20),
    }


def chat_attributes(rng: Random) -> dict[str, Value]:
    """What an agent puts on the span of a model call."""
    return {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": words(rng, 1),
        "gen_ai.request.temperature": round(rng.random(), 1),
        "gen_ai.usage.input_tokens": rng.randrange(100_000),
        "gen_ai.usage.output_tokens": rng.randrange(10_000),
        "gen_ai.conversation.id": rng.randbytes(16).hex(),
        "gen_ai.agent.name": words(rng, 1),
        "gen_ai.response.id": rng.randbytes(12).hex(),
        "session.id": rng.randbytes(8).hex(),
        "input.value": words(rng, 28),
        "output.value": words(rng, 22),
    }


def any_value(value: Value) -> AnyValue:
    """The value on the wire."""
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
    return AnyValue(string_value=value)


def key_values(texts: Mapping[str, Value]) -> list[KeyValue]:
    """Attributes on the wire."""
    return [KeyValue(key=key, value=any_value(value)) for key, value in texts.items()]


def span(rng: Random) -> Span:
    """A memory span or a chat span."""
    memory = rng.random() < MEMORY_SHARE
    start = 1_700_000_000_000_000_000 + rng.randrange(10**12)
    return Span(
        trace_id=rng.randbytes(16),
        span_id=rng.randbytes(8),
        parent_span_id=rng.randbytes(8),
        name="memledger.memory.add" if memory else "chat",
        kind=Span.SPAN_KIND_INTERNAL if memory else Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=start,
        end_time_unix_nano=start + rng.randrange(10**9),
        flags=0x101,
        attributes=key_values(memory_attributes(rng) if memory else chat_attributes(rng)),
    )


def request(seed: int) -> bytes:
    """A serialized ExportTraceServiceRequest."""
    rng = Random(seed)
    message = ExportTraceServiceRequest()
    resource_spans = message.resource_spans.add()
    resource_spans.resource.attributes.extend(key_values(RESOURCE))
    scope_spans = resource_spans.scope_spans.add()
    scope_spans.scope.name = "bench"
    scope_spans.spans.extend(span(rng) for _ in range(SPANS_PER_REQUEST))
    return message.SerializeToString()


def report(name: str, run: Callable[[], object], spans: int, rounds: int) -> None:
    """Print the median and the best CPU cost of `run`, which handles `spans` spans, after one round of warm-up."""
    run()
    seconds = []
    for _ in range(rounds):
        before = time.process_time()
        run()
        seconds.append(time.process_time() - before)
    median, best = statistics.median(seconds), min(seconds)
    print(
        f"{name:<16} {spans / median:>12,.0f} spans/s   {median / spans * 1e6:.2f} CPU-s per million spans "
        f"(best round {best / spans * 1e6:.2f})"
    )


def report_stages(requests: Sequence[bytes], spans: int, rounds: int) -> None:
    """Print the time in each stage, by cProfile, whose own cost is small: a slice takes few calls."""
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(rounds):
        decode(requests)
    profile.disable()
    took = {entry.code: entry.totaltime for entry in profile.getstats() if isinstance(entry.code, CodeType)}
    for stage, functions in {"decode": [decode], **STAGES}.items():
        total = sum(took[function.__code__] for function in functions if isinstance(function, FunctionType))
        print(f"  {stage:<20} {total / rounds / spans * 1e6:.3f} s per million spans")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    chosen = parser.parse_args()
    requests = [request(seed) for seed in range(chosen.requests)]
    decoded = decode(requests)
    size = sum(map(len, requests)) / len(decoded)
    print(f"{len(decoded):,} spans of {size:.0f} bytes, {decoded.spans['trace_id'].num_chunks} slices")
    report("decode", partial(decode, requests), len(decoded), chosen.rounds)
    keys = dict.fromkeys([*memory_attributes(Random(0)), *chat_attributes(Random(0)), *map(str, range(40))])
    for count in (14, 40):
        pick = partial(pick_attributes, decoded.spans["attributes"], list(keys)[:count])
        report(f"pick {count} keys", pick, len(decoded), chosen.rounds)
    if chosen.profile:
        report_stages(requests, len(decoded), chosen.rounds)


if __name__ == "__main__":
    main()
