"""Judge one protobuf payload: all of it must be OTLP and within the limits, and each span must have usable ids."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from weaklink_processor.errors import TooLarge
from weaklink_processor.receive import census, form, ids
from weaklink_processor.receive.limits import Limits


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
    spans = spans_of(payload, limits)
    return Accepted(payload, len(spans), 0, "") if ids.all_good(spans) else _without_bad_spans(payload)


def spans_of(payload: bytes, limits: Limits) -> pa.StructArray:
    """The ids of all spans of a payload; BadData when it is not OTLP or over a limit."""
    if form.may_be_huge(payload):
        form.check_in_pieces(payload, limits)
        return census.spans_of(payload)
    form.check(payload, limits)
    return census.spans_within(limits, payload)


def _without_bad_spans(payload: bytes) -> Accepted:
    request = ExportTraceServiceRequest.FromString(payload)
    faults: Counter[str | None] = Counter()
    for scope_spans in (scope for resource in request.resource_spans for scope in resource.scope_spans):
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
