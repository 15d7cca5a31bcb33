"""Judge one protobuf payload: all of it must be OTLP and within the limits, and each span must have usable ids."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans

from weaklink_processor.errors import TooLarge
from weaklink_processor.receive import census, form, ids
from weaklink_processor.receive.limits import Limits

FEW_BYTES: Final = 1 << 15  # so few spans are looked at one by one in less time than it takes to begin with Arrow


@dataclass(frozen=True, slots=True)
class Accepted:
    """What of a payload goes on: the very payload when every span is good, else one without the bad spans."""

    payload: bytes
    spans: int  # in `payload`
    rejected: int
    reason: str  # why spans were rejected, '' if none were


def accept(payload: bytes, limits: Limits) -> Accepted:
    """Validate a serialized ExportTraceServiceRequest; TooLarge or BadData when it cannot be taken."""
    if len(payload) > limits.max_recv_bytes:
        raise TooLarge(f"request of {len(payload)} bytes, and {limits.max_recv_bytes} is the limit")
    if len(payload) <= min(FEW_BYTES, limits.safe_bytes, limits.attribute_size):
        request = form.check(payload, limits)
        faults = [ids.fault(span) for scope in _scopes(request) for span in scope.spans]
        return _without_bad_spans(request) if any(faults) else Accepted(payload, len(faults), 0, "")
    spans = spans_of(payload, limits)
    if not ids.all_good(spans):
        return _without_bad_spans(ExportTraceServiceRequest.FromString(payload))
    return Accepted(payload, len(spans), 0, "")


def spans_of(payload: bytes, limits: Limits) -> pa.StructArray:
    """The ids of all spans of a payload; BadData when it is not OTLP or over a limit."""
    if form.may_be_huge(payload):
        form.check_in_pieces(payload, limits)
        return census.spans_of(payload)
    form.check(payload, limits)
    return census.spans_within(limits, payload)


def _scopes(request: ExportTraceServiceRequest) -> Iterator[ScopeSpans]:
    return (scope for resource in request.resource_spans for scope in resource.scope_spans)


def _without_bad_spans(request: ExportTraceServiceRequest) -> Accepted:
    faults: Counter[str | None] = Counter()
    for scope_spans in _scopes(request):
        good = []
        for span in scope_spans.spans:
            fault = ids.fault(span)
            faults[fault] += 1
            if fault is None:
                good.append(span)
        del scope_spans.spans[:]
        scope_spans.spans.extend(good)
    kept = faults.pop(None, 0)
    counts = "; ".join(f"{count} with {fault}" for fault, count in sorted(faults.items(), key=str))
    return Accepted(request.SerializeToString(), kept, faults.total(), f"spans rejected: {counts}")
