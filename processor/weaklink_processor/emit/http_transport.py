"""OTLP/HTTP with protobuf: which answers are worth another try, and what they say.

https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
"""

from contextlib import suppress

from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from weaklink_processor.emit.http_client import Answer, HttpClient
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Response
from weaklink_processor.endpoint import Endpoint

PROTOBUF = "application/x-protobuf"
RETRYABLE = frozenset({429, 502, 503, 504})


class HttpTransport:
    """Connections to one server."""

    def __init__(self, endpoint: Endpoint, settings: ExportSettings) -> None:
        self._path = endpoint.path
        self._client = HttpClient(endpoint, settings, PROTOBUF)

    def send(self, request: bytes) -> Response:
        """Make one attempt; Failed, if the server does not take it or cannot be reached."""
        answer = self._client.post(self._path, request)
        if not answer.is_success:
            raise answer.failed(retryable=answer.status in RETRYABLE, message=_message(answer))
        return _response(answer)

    def close(self) -> None:
        """Hang up, also on what is in flight."""
        self._client.close()


def _message(answer: Answer) -> str | None:
    """Return what a server says about its refusal in OTLP's form; None for another form."""
    if _is_protobuf(answer):
        with suppress(DecodeError):
            return str(Status.FromString(answer.content).message)
    return None


def _response(answer: Answer) -> Response:
    """Return a server's answer; one that is not OTLP's is a success all the same."""
    if _is_protobuf(answer):
        with suppress(DecodeError):
            partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
            return Response(partial.rejected_spans, partial.error_message)
    return Response()


def _is_protobuf(answer: Answer) -> bool:
    return answer.headers.get("content-type", "").partition(";")[0].strip().lower() == PROTOBUF
