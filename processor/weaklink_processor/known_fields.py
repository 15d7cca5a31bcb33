"""Requests without what this version of OTLP does not know."""

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def without_unknown(payload: bytes) -> bytes:
    """Serialize an ExportTraceServiceRequest anew, only with the fields that are known; ValueError: it is none."""
    try:
        request = ExportTraceServiceRequest.FromString(payload)
    except DecodeError as error:
        raise ValueError(f"not an ExportTraceServiceRequest: {error}") from error
    request.DiscardUnknownFields()
    return request.SerializeToString()
