"""Counting spans without reading them."""

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from e2e.workload import spans_of, workload
from weaklink_processor.span_count import span_count


def test_real_requests() -> None:
    """It is the number of spans that upb finds."""
    for payload in workload(seed=3, requests=50):
        assert span_count(payload) == len(spans_of(payload)) > 0


@given(st.lists(st.lists(st.integers(0, 5))))
def test_any_nesting(resources: list[list[int]]) -> None:
    """Spans of all scopes of all resources count, and empty ones hold none."""
    message = ExportTraceServiceRequest()
    for scopes in resources:
        resource = message.resource_spans.add()
        for spans in scopes:
            scope = resource.scope_spans.add()
            for _ in range(spans):
                scope.spans.add()
    assert span_count(message.SerializeToString()) == sum(map(sum, resources))


@given(st.binary())
def test_what_is_no_request_has_none(payload: bytes) -> None:
    """Bytes that are no request are never a crash."""
    assert span_count(payload) >= 0
