"""What a downstream server got of weaklink: original requests, and verdicts."""

from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from e2e.workload import spans_of
from sink import Sink


def is_own(span: Span) -> bool:
    return span.name.startswith("evaluators.mai_")


def originals(sink: Sink[Any]) -> list[bytes]:
    """The forwarded requests; those with verdicts hold nothing else."""
    own = {request: {is_own(span) for span in spans_of(request)} for request in list(sink.requests)}
    assert {True, False} not in own.values()
    return [request for request in list(sink.requests) if True not in own[request]]


def verdicts(sink: Sink[Any]) -> list[Span]:
    return [span for span in sink.spans() if is_own(span)]
