"""A real OTLP/gRPC trace server for tests: keeps what it is sent, and fails, dawdles or goes away on demand.

Its sibling over HTTP is http_sink.py.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, Self, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

C = TypeVar("C")
SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


RETRYABLE = (
    *(grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED),
    *(grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DATA_LOSS),
)
"""What OTLP has a client try again."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call as it came in."""

    time: float  # time.monotonic()
    request: bytes
    metadata: dict[str, str | bytes]


@dataclass(slots=True)
class Failure(Generic[C]):
    """How calls are refused, until they are so no more."""

    code: C
    message: str
    retry_after: float | None
    left: float  # how many more calls fail


@dataclass(slots=True)
class Sink(ABC, Generic[C]):
    """What servers of each protocol have in common; `requests` are those answered with success, in order."""

    delay: float = 0.0  # seconds before each answer
    partial: ExportTracePartialSuccess | None = None  # what each success says
    requests: list[bytes] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    port: int = 0
    _failure: Failure[C] | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def fail(
        self, code: C, message: str = "", *, retry_after: float | None = None, times: float = float("inf")
    ) -> None:
        """Answer the next calls with this code, and with that delay when retry_after (seconds) is given."""
        self._failure = Failure(code, message, retry_after, times)

    def recover(self) -> None:
        """Answer with success again."""
        self._failure = None

    def spans(self) -> list[Span]:
        """Return every span received, in order."""
        requests = [ExportTraceServiceRequest.FromString(request) for request in list(self.requests)]
        return [
            span for request in requests for each in request.resource_spans for scope in each.scope_spans
            for span in scope.spans
        ]  # fmt: skip

    def wait_for(self, reached: Callable[[Self], bool], timeout: float = 10.0) -> None:
        """Block until the condition holds, which is looked at after each call; TimeoutError if it never does."""
        with self._changed:
            if not self._changed.wait_for(lambda: reached(self), timeout):
                raise TimeoutError(f"sink has {len(self.requests)} requests of {len(self.attempts)} attempts")

    @property
    @abstractmethod
    def endpoint(self) -> str:
        """Where it listens, as an exporter is told."""

    @abstractmethod
    def start(self) -> None:
        """Listen."""

    @abstractmethod
    def stop(self) -> None:
        """Go away."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _take(self, request: bytes, metadata: dict[str, str | bytes]) -> Failure[C] | None:
        """Note a call and dawdle; return how it is to be refused, None if it is taken."""
        with self._changed:
            self.attempts.append(Attempt(time.monotonic(), request, metadata))
            failure = self._next_failure()
            self._changed.notify_all()
        time.sleep(self.delay)
        if failure is None:
            with self._changed:
                self.requests.append(request)
                self._changed.notify_all()
        return failure

    def _next_failure(self) -> Failure[C] | None:
        failure = self._failure
        if failure is None or failure.left <= 0:
            return None
        failure.left -= 1
        return failure


@dataclass(slots=True)
class OtlpSink(Sink[grpc.StatusCode]):
    """`with OtlpSink() as sink` listens on `sink.endpoint`."""

    credentials: grpc.ServerCredentials | None = None
    _server: grpc.Server | None = None

    @property
    def endpoint(self) -> str:
        """host:port, the same after `stop` and `start`."""
        return f"localhost:{self.port}" if self.credentials else f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen; on the former port, if there was one."""
        handler = grpc.unary_unary_rpc_method_handler(self._export)
        self._server = grpc.server(ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Export": handler}),))
        address = f"127.0.0.1:{self.port}"
        if self.credentials:
            self.port = self._server.add_secure_port(address, self.credentials)
        else:
            self.port = self._server.add_insecure_port(address)
        self._server.start()

    def stop(self) -> None:
        """Go away: calls in flight are cut off."""
        if self._server:
            self._server.stop(grace=0).wait()
            self._server = None

    def _export(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        failure = self._take(request, dict(context.invocation_metadata()))
        if failure:
            _abort(context, failure)
        return ExportTraceServiceResponse(partial_success=self.partial).SerializeToString()


def _abort(context: grpc.ServicerContext, failure: Failure[grpc.StatusCode]) -> None:
    if failure.retry_after is not None:
        status = Status(code=failure.code.value[0], message=failure.message)
        delay = Duration()
        delay.FromNanoseconds(int(failure.retry_after * 1e9))
        status.details.add().Pack(RetryInfo(retry_delay=delay))
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(failure.code, failure.message)
