"""Judge one protobuf payload: all of it must be OTLP, and each span must have usable ids."""

from collections import Counter
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from weaklink_processor.errors import BadData, TooLarge
from weaklink_processor.known_fields import without_unknown
from weaklink_processor.receive import ids
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
    request = parse_request(payload)
    try:
        spans, all_good = ids.judge(payload)
    except ValueError:  # ptars minds what is inside unknown groups, upb does not
        spans, all_good = ids.judge(without_unknown(payload))
    return Accepted(payload, spans, 0, "") if all_good else _without_bad_spans(request)


def parse_request(payload: bytes) -> ExportTraceServiceRequest:
    """Parse all of a payload; BadData."""
    try:
        return ExportTraceServiceRequest.FromString(payload)
    except DecodeError as error:
        raise BadData("not an ExportTraceServiceRequest in protobuf") from error


def _without_bad_spans(request: ExportTraceServiceRequest) -> Accepted:
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
