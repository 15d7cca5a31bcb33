"""What a kill in the middle of sending does to the destination."""

from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from e2e.clients import send_by_grpc
from e2e.workload import spans_of
from otlp import payload, write
from sink import OtlpSink
from weaklink_service import Service, wait_until

SECONDS_TO_ANSWER = 8.0


def test_a_verdict_that_was_not_answered_for_comes_again_the_same(tmp_path: Path) -> None:
    """Killed after the destination got it and before it answered, weaklink sends the very same EVALUATOR span again."""
    with OtlpSink() as sink, Service(tmp_path / "data", forward=sink.endpoint) as service:
        send_by_grpc(service, [payload([write(1, 1, "fact", 0.9, 1)])])
        wait_until(lambda: sink.requests, "the request at the sink")
        sink.delay = SECONDS_TO_ANSWER
        wait_until(lambda: verdicts(sink), "the verdict on its way")
        service.kill_all()
        sink.delay = 0.0
        service.start()
        wait_until(lambda: any(is_own(span) for span in sink.spans()), "the verdict at the sink")
    first, *copies = verdicts(sink)
    assert copies
    assert all(copy == first for copy in copies)


def verdicts(sink: OtlpSink) -> list[Span]:
    """Of everything that came in, answered for or not."""
    return [span for attempt in list(sink.attempts) for span in spans_of(attempt.request) if is_own(span)]


def is_own(span: Span) -> bool:
    return span.name.startswith("evaluators.mai_")
