"""The exporter against a real server of each protocol: what holds for both."""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTracePartialSuccess
from structlog.testing import capture_logs

from http_sink import HttpSink
from sink import RETRYABLE, OtlpSink, Sink
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.emit.retry import Backoff
from weaklink_processor.emit.settings import ExportSettings

REQUEST = b"\n\x02\x1a\x00\xfa\x7f\x03new"  # a resource without spans, and a field that no version knows


@dataclass(frozen=True)
class Door:
    """A protocol, and how a server says no in it."""

    protocol: str
    sink: Callable[[], Sink[Any]]
    quick: ExportSettings
    unavailable: object
    seconds: float
    """What a server may ask for at least; HTTP knows no fractions."""
    away: str
    """A pattern of the code that is told of one that is not there."""

    @property
    def patient(self) -> ExportSettings:
        """Settings with a long back-off."""
        return replace(self.quick, backoff=Backoff(initial_seconds=60.0, max_seconds=60.0))


QUICK = Backoff(initial_seconds=0.02, max_seconds=0.1)
GRPC = Door("grpc", OtlpSink, ExportSettings(backoff=QUICK), grpc.StatusCode.UNAVAILABLE, 0.4, "UNAVAILABLE")
HTTP = Door("http", HttpSink, ExportSettings(protocol="http/protobuf", backoff=QUICK), 503, 1, r"\w+Error")
CODES = [
    pytest.param(door, code, id=f"{door.protocol}-{code}")
    for door, codes in ((GRPC, RETRYABLE), (HTTP, (429, 502, 503, 504)))
    for code in codes
]


@pytest.fixture(params=[GRPC, HTTP], ids=lambda door: door.protocol)
def door(request: pytest.FixtureRequest) -> Door:
    """Return one protocol after the other."""
    found: Door = request.param
    return found


@pytest.fixture
def sink(door: Door) -> Iterator[Sink[Any]]:
    """Return a running sink."""
    with door.sink() as running:
        yield running


@pytest.mark.parametrize(("door", "code"), CODES)
def test_retryable_codes_are_retried(door: Door, code: object) -> None:
    """OTLP's retryable codes are tried until they pass; what passes is counted nowhere as failed."""
    with door.sink() as sink:
        exporter = OtlpExporter(sink.endpoint, door.quick)
        sink.fail(code, times=2)
        assert exporter.export(REQUEST)
        exporter.close()
    assert [attempt.request for attempt in sink.attempts] == [REQUEST] * 3
    assert sink.requests == [REQUEST]
    assert (exporter.stats().retried, exporter.stats().failed, exporter.stats().away) == (2, 0, False)


@pytest.mark.parametrize("backoff", ["quick", "patient"])
def test_the_servers_delay_is_honoured(door: Door, sink: Sink[Any], backoff: str) -> None:
    """Not before it, though our own back-off is shorter; soon after it, though our own is longer."""
    sink.fail(door.unavailable, retry_after=door.seconds, times=1)
    exporter = OtlpExporter(sink.endpoint, getattr(door, backoff))
    assert exporter.export(REQUEST)
    exporter.close()
    first, second = sink.attempts
    assert door.seconds <= second.time - first.time < door.seconds + 1.6


def test_partial_success_is_not_retried(door: Door, sink: Sink[Any]) -> None:
    """What the destination took in part is done; the rest is counted and said."""
    sink.partial = ExportTracePartialSuccess(rejected_spans=3, error_message="too old")
    with capture_logs() as lines:
        exporter = OtlpExporter(sink.endpoint, door.quick)
        assert exporter.export(REQUEST)
        exporter.close()
    assert len(sink.attempts) == 1
    assert exporter.stats().rejected_spans == 3
    assert [(line["event"], line["message"]) for line in lines] == [("partial_success", "too old")]


def test_an_attempt_that_hangs_is_retried(door: Door, sink: Sink[Any]) -> None:
    """The timeout bounds one attempt, and a new one follows."""
    sink.delay = 1.0
    exporter = OtlpExporter(sink.endpoint, replace(door.quick, timeout_seconds=0.2))
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(exporter.export, REQUEST)
        sink.wait_for(lambda it: len(it.attempts) >= 1)
        sink.delay = 0.0
        assert answer.result(5.0)
    exporter.close()
    assert exporter.stats().retried >= 1


@pytest.mark.parametrize("reached_before", [True, False], ids=["it-was-there", "it-never-was"])
def test_an_outage_is_two_lines(door: Door, sink: Sink[Any], *, reached_before: bool) -> None:
    """One line when the destination goes away and one when it is back, for all requests in flight."""
    assert not sink.requests
    with capture_logs() as lines, ThreadPoolExecutor(4) as pool:
        exporter = OtlpExporter(sink.endpoint, door.quick, "archive")
        if reached_before:
            assert exporter.export(REQUEST)
        sink.stop()
        answers = [pool.submit(exporter.export, REQUEST) for _ in range(12)]
        while exporter.stats().retried < 20:
            time.sleep(0.01)
        assert exporter.stats().away
        sink.start()
        assert all(answer.result(10.0) for answer in answers)
        exporter.close()
    assert [(line["event"], line["destination"]) for line in lines] == [
        ("destination_away", "archive"),
        ("destination_back", "archive"),
    ]
    assert re.fullmatch(door.away, lines[0]["code"])
    assert len(sink.requests) == 12 + reached_before
