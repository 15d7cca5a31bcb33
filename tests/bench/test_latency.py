"""How the benchmarks find out how soon a verdict comes."""

from collections.abc import Sequence
from dataclasses import replace

import grpc
import numpy as np
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from downstream import METHOD, Verdicts, listening
from evaluations import STRUCTURAL, evaluator_span
from generator import Ended
from latency import latency
from load import Template, requests, trace_keys
from weaklink_processor.emit.feed import OutboxRow
from weaklink_processor.emit.requests import evaluator_request

TRACES = [number.to_bytes(16, "little") for number in (1, 2, 3)]


def test_a_request_names_the_traces_that_are_in_it() -> None:
    """In each pass the keys are those of the trace ids on the wire, and no key is one of another pass."""
    template = Template(next(requests(25)))

    keys = {number: set(template.traces(number).tolist()) for number in (0, 7)}

    for number, expected in keys.items():
        message = ExportTraceServiceRequest.FromString(template.stamped(number))
        spans = message.resource_spans[0].scope_spans[0].spans
        assert set(trace_keys(span.trace_id for span in spans).tolist()) == expected
    assert not keys[0] & keys[7]


def test_the_first_verdict_after_the_last_span_counts() -> None:
    """An earlier one, one on a decision, later revisions and traces that nobody sent change nothing."""
    moments = iter([9.0, 10.5, 16.0, 17.0, 30.0])
    sink = Verdicts(clock=lambda: next(moments))
    for scope, traces in (
        ("trace", TRACES[:1]),  # before the last span of the first trace
        ("decision", TRACES[:1]),
        ("trace", TRACES[:1]),
        ("trace", [TRACES[1], (4).to_bytes(16, "little")]),
        ("trace", TRACES[:1]),
    ):
        sink.take(_told(scope, traces))

    ended = Ended(trace_keys(TRACES), np.array([10.0, 11.0, 12.0]))
    found = latency(ended, sink, quiet_seconds=5.0)

    assert (found.traces, found.untold, found.p50, found.max) == (2, 1, 6.0, 6.0)
    assert found.kept
    assert not latency(ended, sink, quiet_seconds=4.9).kept


def test_a_sink_counts_what_is_sent_to_it() -> None:
    """A request that comes over gRPC is counted by the scope of its spans."""
    sink = Verdicts()
    with listening(sink.take) as endpoint, grpc.insecure_channel(endpoint) as channel:
        for request in (next(requests(25)), _told("trace", TRACES)):
            channel.unary_unary(METHOD, None, None)(request, timeout=10)

    assert sink.spans == {"bench": 25, "weaklink": 3}
    assert sink.traces() == 3


def _told(scope: str, traces: Sequence[bytes]) -> bytes:
    told = [evaluator_span(replace(STRUCTURAL, scope=scope, trace_id=trace.hex())) for trace in traces]
    rows = [OutboxRow(0, span.SerializeToString(), "", "") for span in told]
    return evaluator_request(rows)
