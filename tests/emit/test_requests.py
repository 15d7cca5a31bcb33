"""Requests of evaluator spans, requests without weaklink's own spans, and their parcels."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from weaklink_analysis.namespace import joined
from weaklink_processor.emit import pack
from weaklink_processor.emit.feed import ForwardRow, OutboxRow
from weaklink_processor.emit.pack import forward_parcels, outbox_parcels
from weaklink_processor.emit.requests import evaluator_request, strip_spans

KEYS = [(bytes([trace]) * 16, bytes([span]) * 8) for trace in (1, 2) for span in (1, 2, 3)]
FlatSpan = tuple[str, str, tuple[bytes, bytes], bytes]

spans = st.builds(
    lambda key, name: Span(trace_id=key[0], span_id=key[1], name=name), st.sampled_from(KEYS), st.text(max_size=3)
)
scopes = st.builds(
    lambda name, items: ScopeSpans(scope=InstrumentationScope(name=name), spans=items),
    st.sampled_from("ab"),
    st.lists(spans, max_size=3),
)
resources = st.builds(
    lambda url, items: ResourceSpans(schema_url=url, scope_spans=items),
    st.sampled_from("xy"),
    st.lists(scopes, max_size=3),
)
requests = st.builds(lambda items: ExportTraceServiceRequest(resource_spans=items), st.lists(resources, max_size=3))


def flat(request: bytes) -> list[FlatSpan]:
    """Return every span with the resource and scope that it is under."""
    return [
        (resource.schema_url, scope.scope.name, (span.trace_id, span.span_id), span.SerializeToString())
        for resource in ExportTraceServiceRequest.FromString(request).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


@given(requests, st.frozensets(st.sampled_from(KEYS)))
def test_strip_takes_out_own_spans_and_nothing_else(
    message: ExportTraceServiceRequest, own: frozenset[tuple[bytes, bytes]]
) -> None:
    """The same object when none is own, None when all are, else the others in order and no empty shell."""
    request = message.SerializeToString()
    left = [span for span in flat(request) if span[2] not in own]
    stripped = strip_spans(request, own)
    if len(left) == len(flat(request)):
        assert stripped is request
    elif not left:
        assert stripped is None
    else:
        assert stripped is not None
        assert flat(stripped) == left
        kept = ExportTraceServiceRequest.FromString(stripped).resource_spans
        assert all(scope.spans for resource in kept for scope in resource.scope_spans)


def test_strip_keeps_fields_it_does_not_know() -> None:
    """A newer sender's fields survive beside a span that is taken out."""
    unknown = b"\xfa\x7f\x03new"  # field 2047, three bytes
    other = Span.FromString(Span(trace_id=KEYS[1][0], span_id=KEYS[1][1]).SerializeToString() + unknown)
    own = Span(trace_id=KEYS[0][0], span_id=KEYS[0][1])
    message = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[own, other])])])
    stripped = strip_spans(message.SerializeToString(), {KEYS[0]})
    assert stripped is not None
    assert unknown in stripped


def outbox_row(seq: int, service: str = "triage", environment: str = "production", size: int = 0) -> OutboxRow:
    """Return a row whose span's name is its seq."""
    span = Span(trace_id=b"t" * 16, span_id=seq.to_bytes(8), name=str(seq), trace_state="x" * size)
    return OutboxRow(seq, span.SerializeToString(), service, environment)


def test_evaluator_spans_go_under_the_service_they_judge() -> None:
    """One resource a (service, environment), named by the semantic conventions; what is empty is left out."""
    rows = [outbox_row(1), outbox_row(2, "diagnosis"), outbox_row(3), outbox_row(4, "", "")]
    got = ExportTraceServiceRequest.FromString(evaluator_request(rows))
    assert [
        (
            {item.key: item.value.string_value for item in each.resource.attributes},
            [span.name for span in each.scope_spans[0].spans],
        )
        for each in got.resource_spans
    ] == [
        ({"service.name": "triage", "deployment.environment.name": "production"}, ["1", "3"]),
        ({"service.name": "diagnosis", "deployment.environment.name": "production"}, ["2"]),
        ({}, ["4"]),
    ]
    assert {scope.scope.name for each in got.resource_spans for scope in each.scope_spans} == {"weaklink"}
    assert all(scope.scope.version for each in got.resource_spans for scope in each.scope_spans)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ("shop/prod", {"service.namespace": "shop", "deployment.environment.name": "prod"}),
        ("a%2Fb/eu/prod", {"service.namespace": "a/b", "deployment.environment.name": "eu/prod"}),
        ("a%252Fb/prod", {"service.namespace": "a%2Fb", "deployment.environment.name": "prod"}),
        ("/eu/prod", {"deployment.environment.name": "eu/prod"}),
        ("shop/", {"service.namespace": "shop"}),
        ("/", {}),
    ],
)
def test_an_environment_of_a_namespace_is_told_apart_again(environment: str, said: dict[str, str]) -> None:
    """Where namespaces count, the resource has the two attributes that the environment was made of."""
    request = evaluator_request([outbox_row(1, "", environment)], by_namespace=True)
    (resource,) = ExportTraceServiceRequest.FromString(request).resource_spans
    assert {item.key: item.value.string_value for item in resource.resource.attributes} == said
    got = joined(pa.array([said.get("service.namespace", "")]), pa.array([said.get("deployment.environment.name", "")]))
    assert got.to_pylist() == [environment]


def test_an_environment_from_before_namespaces_counted_is_no_namespace() -> None:
    """What was stored without the setting is judged again with it: its resource says what it said."""
    request = evaluator_request([outbox_row(1, "", "prod")], by_namespace=True)
    (resource,) = ExportTraceServiceRequest.FromString(request).resource_spans
    said = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert said == {"deployment.environment.name": "prod"}


def test_evaluations_are_batched_by_number() -> None:
    """512 spans a request; a parcel's last seq and its count are those of its chunk."""
    parcels = outbox_parcels([outbox_row(seq) for seq in range(1, 1101)])
    assert [(parcel.last, parcel.units) for parcel in parcels] == [(512, 512), (1024, 512), (1100, 76)]
    assert [span[2][1] for parcel in parcels for request in parcel.requests for span in flat(request)] == [
        seq.to_bytes(8) for seq in range(1, 1101)
    ]


def test_evaluations_are_batched_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request stays under the limit of bytes; a span over it goes alone."""
    monkeypatch.setattr(pack, "MAX_BYTES", 1000)
    parcels = outbox_parcels([outbox_row(seq, size=size) for seq, size in enumerate([400, 400, 400, 400, 2000, 10], 1)])
    assert [parcel.last for parcel in parcels] == [2, 4, 5, 6]


def test_no_rows_are_no_parcels() -> None:
    """Nothing to send makes no empty request."""
    assert outbox_parcels([]) == []
    assert forward_parcels([]) == []


def test_a_row_of_own_spans_only_is_a_parcel_without_requests() -> None:
    """Progress must pass it though nothing is sent."""
    request = evaluator_request([outbox_row(1)])
    own = frozenset({(b"t" * 16, (1).to_bytes(8))})
    (parcel,) = forward_parcels([ForwardRow(7, [request], own)])
    assert (parcel.last, parcel.requests) == (7, ())
