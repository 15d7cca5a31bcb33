"""Whatever is sent, the door refuses it with an OTLP error, or all it lets through is read, recognised and counted.

WEAKLINK_FUZZ=N makes N times as many inputs of each kind; see docs/dev-guide.md.
"""

import os
import socket
from contextlib import closing, suppress
from random import Random

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from decode.wire import request
from e2e.clients import otlp_json
from fuzz.mutants import mutant, odd_value
from receive.harness import GOOD, Receiver, running
from weaklink_analysis.conventions import CONVENTIONS, attributes_read
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.decode.batch import decode
from weaklink_processor.errors import Refused
from weaklink_processor.receive import otlp_json as reader
from weaklink_processor.receive.accept import accept
from weaklink_processor.receive.limits import Limits

TIMES = int(os.environ.get("WEAKLINK_FUZZ", "1"))
LIMITS = Limits()
MUTANTS = 10
"""Inputs of an example."""
SPANS = 200
"""Spans of an example with odd attributes; each is an input."""
SEEDS = st.integers(0, 2**63)
USUAL = 0.7
"""How often a value is what one expects there."""

RECOGNISER = Recogniser(duckdb.connect(config={"threads": 1}))
READ = attributes_read()
USUAL_TEXTS = ("a", "b", "0.3", "0.85", "true", '["a", "b"]', '[{"id": "a", "score": 1}]')
NAMES = (*(name.rstrip("*") for convention in CONVENTIONS for name in convention.names), "invoke_agent x", "")


def some(examples: int) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=examples * TIMES, suppress_health_check=checks)


def enter(payload: bytes) -> None:
    """The rule: refused as Refused says, or read whole."""
    try:
        accepted = accept(payload, LIMITS)
    except Refused:
        return
    batch = decode([accepted.payload])
    assert len(batch) == accepted.spans
    batch.spans.validate(full=True)


@some(3_000)
@given(SEEDS)
def test_protobuf(seed: int) -> None:
    """Requests in protobuf with bytes changed, moved, doubled, cut."""
    rng = Random(seed)
    whole = request(seed)
    for _ in range(MUTANTS):
        enter(mutant(whole, rng))


@some(1_800)
@given(SEEDS)
def test_json(seed: int) -> None:
    """Requests in JSON with characters changed, moved, doubled, cut."""
    rng = Random(seed)
    whole = otlp_json(_request(rng, 3))
    for _ in range(MUTANTS):
        try:
            payload = reader.to_protobuf(mutant(whole, rng), LIMITS)
        except Refused:
            continue
        enter(payload)


@some(120)
@given(SEEDS)
def test_conventions(seed: int) -> None:
    """Spans whose attributes, named as a convention wants them, hold anything: all of it stays in bounds."""
    batch = decode([_request(Random(seed), SPANS)])
    recognised = RECOGNISER.recognise(batch)
    assert len(recognised) == SPANS
    recognised.operations.validate(full=True)
    confidences = recognised.operations.column("confidence").drop_null().to_pylist()
    assert all(0 <= confidence <= 1 for confidence in confidences)


def test_http() -> None:
    """What is written to the HTTP port is answered, or the connection is closed; good requests are taken still."""
    with running() as receiver:
        for seed in range(600 * TIMES):
            _write(receiver, Random(seed))
        assert receiver.post(GOOD).status == 200
    assert receiver.names()[-1] == "good"


def _request(rng: Random, count: int) -> bytes:
    spans = [
        Span(
            trace_id=rng.randbytes(15) + b"t",
            span_id=rng.randbytes(7) + b"s",
            name=rng.choice(NAMES) + rng.choice(("", "add", "recall")),
            attributes=_attributes(rng),
        )
        for _ in range(count)
    ]
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=spans)])]
    ).SerializeToString()


def _attributes(rng: Random) -> list[KeyValue]:
    """Those of a convention, some of them odd, among some of others."""
    convention = rng.choice(CONVENTIONS)
    first, *more = (*convention.attributes, *(f"{prefix}{rng.randrange(3)}.id" for prefix in convention.prefixes), "x")
    marked = AnyValue(string_value=rng.choice(tuple(convention.only) or ("add", "recall", "update")))
    named = [*rng.sample(more, rng.randrange(len(more) + 1)), *rng.sample(READ, 2)]
    return [
        KeyValue(key=first, value=marked if rng.random() < USUAL else odd_value(rng)),
        *(KeyValue(key=name, value=_usual(rng) if rng.random() < USUAL else odd_value(rng)) for name in named),
    ]


def _usual(rng: Random) -> AnyValue:
    return AnyValue(string_value=rng.choice(USUAL_TEXTS))


def _write(receiver: Receiver, rng: Random) -> None:
    head = b"POST /v1/traces HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    with closing(socket.create_connection(receiver.bound.http, timeout=10)) as connection:
        answer = b""
        with suppress(ConnectionError):  # closed with something unread
            connection.sendall(mutant(head, rng))
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1 << 16)
    assert not answer or answer.startswith(b"HTTP/1.1 ")
