"""The judging of one protobuf payload."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from weaklink_processor.errors import BadData, TooLarge
from weaklink_processor.receive import accept as judging
from weaklink_processor.receive import census
from weaklink_processor.receive.accept import Accepted, accept
from weaklink_processor.receive.limits import Limits

LIMITS = Limits()
TRACE, SPAN = b"t" * 16, b"s" * 8


def one_of_lengths(*lengths: int) -> st.SearchStrategy[bytes]:
    """Ids of these lengths: random, all zero, or zero but for one end."""
    return st.sampled_from(lengths).flatmap(
        lambda length: st.one_of(
            st.binary(min_size=length, max_size=length),
            st.sampled_from(
                [bytes(length), bytes(length)[:-1] + b"\x01" * bool(length), b"\x01" * bool(length) + bytes(length)[1:]]
            ),
        )
    )


def spans(
    trace: st.SearchStrategy[bytes], span: st.SearchStrategy[bytes], parent: st.SearchStrategy[bytes]
) -> st.SearchStrategy[Span]:
    return st.builds(Span, trace_id=trace, span_id=span, parent_span_id=parent, name=st.text(max_size=3))


def requests(span: st.SearchStrategy[Span]) -> st.SearchStrategy[ExportTraceServiceRequest]:
    scopes = st.builds(ScopeSpans, spans=st.lists(span, max_size=4), schema_url=st.text(max_size=2))
    resources = st.builds(ResourceSpans, scope_spans=st.lists(scopes, max_size=3), schema_url=st.text(max_size=2))
    return st.builds(ExportTraceServiceRequest, resource_spans=st.lists(resources, max_size=3))


ANY_SPAN = spans(
    one_of_lengths(16, 16, 16, 0, 8, 15, 17), one_of_lengths(8, 8, 8, 0, 7, 9, 16), one_of_lengths(0, 8, 8, 7, 16)
)
GOOD_SPAN = spans(one_of_lengths(16).filter(any), one_of_lengths(8).filter(any), one_of_lengths(0, 8))


def is_good(span: Span) -> bool:
    """Say the rule in plain Python."""
    return (
        len(span.trace_id) == 16
        and span.trace_id != bytes(16)
        and len(span.span_id) == 8
        and span.span_id != bytes(8)
        and len(span.parent_span_id) in (0, 8)
    )


def either_way(payload: bytes) -> Accepted:
    """Judge spans one by one, as in small payloads, and in Arrow, as in all others: both must say the same."""
    one_by_one = accept(payload, LIMITS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "FEW_BYTES", -1)
        assert accept(payload, LIMITS) == one_by_one
    return one_by_one


@given(requests(ANY_SPAN))
def test_bad_spans_go_and_all_else_stays(request_: ExportTraceServiceRequest) -> None:
    """What remains is the request filtered span by span, in order, its empty scopes and resources too."""
    expected = ExportTraceServiceRequest()
    total = kept = 0
    for resource in request_.resource_spans:
        resource_out = expected.resource_spans.add(schema_url=resource.schema_url)
        for scope in resource.scope_spans:
            good = [span for span in scope.spans if is_good(span)]
            resource_out.scope_spans.add(schema_url=scope.schema_url, spans=good)
            total += len(scope.spans)
            kept += len(good)
    payload = request_.SerializeToString()
    accepted = either_way(payload)
    assert ExportTraceServiceRequest.FromString(accepted.payload) == expected
    assert (accepted.spans, accepted.rejected) == (kept, total - kept)
    assert bool(accepted.reason) == (kept < total)


@given(requests(GOOD_SPAN))
def test_a_good_payload_is_not_touched(request_: ExportTraceServiceRequest) -> None:
    """Where no span is bad, the very bytes that came in go on: unknown fields and unusual encodings with them."""
    unknown_field = b"\x98\x06\x80\x00"  # number 99, and a varint longer than it needs to be
    payload = request_.SerializeToString() + unknown_field
    accepted = either_way(payload)
    assert accepted.payload is payload
    assert (accepted.rejected, accepted.reason) == (0, "")


def request_of(*spans: Span) -> bytes:
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=spans)])]
    ).SerializeToString()


@pytest.mark.parametrize(
    "bad",
    [
        Span(trace_id=bytes(16), span_id=SPAN),
        Span(trace_id=TRACE[1:], span_id=SPAN),
        Span(trace_id=TRACE, span_id=bytes(8)),
        Span(trace_id=TRACE, span_id=TRACE),
        Span(trace_id=TRACE, span_id=SPAN, parent_span_id=SPAN[1:]),
    ],
    ids=["zero trace", "short trace", "zero span", "long span", "short parent"],
)
def test_one_fault_is_enough(bad: Span) -> None:
    """A span with a single bad id among good ones is found, whichever id it is."""
    good = Span(trace_id=TRACE, span_id=SPAN, parent_span_id=bytes(8))
    assert accept(request_of(good, bad, good), LIMITS).payload == request_of(good, good)


def test_reasons_are_counted() -> None:
    """The reason says what was wrong and how often, so that a user can find the exporter at fault."""
    bad_trace = Span(trace_id=bytes(16), span_id=SPAN)
    accepted = accept(
        request_of(
            bad_trace,
            Span(trace_id=TRACE, span_id=SPAN),
            Span(trace_id=TRACE, span_id=b"short"),
            bad_trace,
            Span(trace_id=TRACE, span_id=SPAN, parent_span_id=TRACE),
        ),
        LIMITS,
    )
    assert accepted.reason == (
        "spans rejected: 1 with parent_span_id neither empty nor 8 bytes; 1 with span_id all zero or not 8 bytes; "
        "2 with trace_id all zero or not 16 bytes"
    )


def test_an_empty_payload_is_an_empty_request() -> None:
    """No bytes at all are a request without spans."""
    assert accept(b"", LIMITS) == Accepted(b"", 0, 0, "")


def nested_groups(depth: int) -> bytes:
    """Unknown group fields inside each other."""
    return b"\x9b\x06" * depth + b"\x9c\x06" * depth


def nested_values(depth: int) -> bytes:
    """Build a span whose one attribute is arrays inside each other."""
    value = b""
    for _ in range(depth):
        for tag in (b"\x0a", b"\x2a"):  # ArrayValue.values, AnyValue.array_value
            value = tag + varint(len(value)) + value
    for tag in (b"\x12", b"\x4a", b"\x12", b"\x12", b"\x0a"):  # KeyValue.value ... resource_spans
        value = tag + varint(len(value)) + value
    return value


def varint(number: int) -> bytes:
    head = b""
    while number > 0x7F:
        head += bytes([number & 0x7F | 0x80])
        number >>= 7
    return head + bytes([number])


REFUSED = {
    "text": b"hello",
    "cut short": request_of(Span(trace_id=TRACE, span_id=SPAN))[:-1],
    "not Unicode": request_of(Span(trace_id=TRACE, span_id=SPAN)) + b"\x0a\x03\x1a\x01\xff",
    "json": b'{"resourceSpans": []}',
    "a million groups": nested_groups(1_000_000),
    "a thousand arrays": nested_values(1000),
}


@pytest.mark.parametrize("payload", REFUSED.values(), ids=REFUSED.keys())
def test_nothing_reaches_ptars_that_upb_refuses(payload: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A payload that upb refuses is BadData before ptars, which nesting would bring down, has seen it."""
    seen: list[bytes] = []
    spans_within = census.spans_within

    def watched(limits: Limits, payload: bytes) -> pa.StructArray:
        seen.append(payload)
        return spans_within(limits, payload)

    monkeypatch.setattr(census, "spans_within", watched)
    with pytest.raises(BadData, match=r"not an ExportTraceServiceRequest|messages inside each other"):
        accept(payload, LIMITS)
    assert seen == []
    accept(good := request_of(*[Span(trace_id=TRACE, span_id=SPAN)] * judging.FEW_BYTES), LIMITS)
    assert seen == [good]


def test_as_deep_as_protobuf_allows() -> None:
    """Arrays inside each other to the depth that protobuf takes are no reason to refuse a request."""
    payload = nested_values(45)
    assert accept(payload, LIMITS).rejected == 1  # for its ids


def test_too_large() -> None:
    """A payload over the limit is TooLarge, one at the limit is not."""
    payload = request_of(Span(trace_id=TRACE, span_id=SPAN))
    assert accept(payload, Limits(max_recv_bytes=len(payload))).spans == 1
    with pytest.raises(TooLarge, match=str(len(payload) - 1)):
        accept(payload, Limits(max_recv_bytes=len(payload) - 1))
