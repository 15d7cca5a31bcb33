"""A real receiver in a thread of its own, and raw clients for it."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from types import MappingProxyType
from typing import Any, TypeVar

import grpc
from google.protobuf.json_format import Parse
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from weaklink_processor.receive.process import Bound, ReceiverSettings, run_receiver

AnyMessage = TypeVar("AnyMessage", bound=Message)
PROTOBUF, JSON = "application/x-protobuf", "application/json"
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
ANY_PORTS = ReceiverSettings(grpc="127.0.0.1:0", http="127.0.0.1:0")


def request(*spans: Span) -> bytes:
    scope = ScopeSpans(spans=spans)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])]).SerializeToString()


def span(name: str = "good", *, trace_id: bytes = b"t" * 16, span_id: bytes = b"s" * 8) -> Span:
    return Span(trace_id=trace_id, span_id=span_id, name=name)


GOOD = request(span())


@dataclass
class Answer:
    """An HTTP response, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers["content-type"]

    @property
    def error(self) -> Status:
        """The google.rpc.Status that a failed request is answered with, in the type that its header says."""
        return self._read(Status)

    @property
    def response(self) -> ExportTraceServiceResponse:
        return self._read(ExportTraceServiceResponse)

    def _read(self, kind: type[AnyMessage]) -> AnyMessage:
        if self.media_type == JSON:
            return Parse(self.body, kind())
        assert self.media_type == PROTOBUF
        return kind.FromString(self.body)


class Receiver:
    """What a test sees of a running receiver."""

    def __init__(self) -> None:
        self.stored: list[bytes] = []
        self.failure: Exception | None = None  # what append raises
        self.gate = threading.Event()  # what append waits for
        self.gate.set()
        self.waiting = 0  # how many appends stand before the gate
        self.bound: Bound
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    async def serve(self, settings: ReceiverSettings) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        await run_receiver(settings, self._append, stop=self._stop, on_ready=self._on_ready)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)

    def http(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = MappingProxyType({})
    ) -> Answer:
        with closing(HTTPConnection(*self.bound.http, timeout=30)) as connection:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, received, response.read())

    def post(self, body: Any, media_type: str = PROTOBUF, **headers: str) -> Answer:
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http("POST", "/v1/traces", body, {"content-type": media_type, **more})

    def export(
        self, payload: bytes, method: str = EXPORT, compression: grpc.Compression = grpc.Compression.NoCompression
    ) -> ExportTraceServiceResponse:
        with grpc.insecure_channel(str(self.bound.grpc)) as channel:
            call = channel.unary_unary(method, bytes, ExportTraceServiceResponse.FromString)
            answer: ExportTraceServiceResponse = call(payload, timeout=30, compression=compression)
        return answer

    def names(self) -> list[str]:
        """The names of all stored spans."""
        requests = map(ExportTraceServiceRequest.FromString, self.stored)
        scopes = (scope for each in requests for resource in each.resource_spans for scope in resource.scope_spans)
        return [each.name for scope in scopes for each in scope.spans]

    async def _append(self, payload: bytes) -> None:
        if self.failure is not None:
            raise self.failure
        self.waiting += 1
        await asyncio.to_thread(self.gate.wait)
        self.waiting -= 1
        self.stored.append(payload)

    def _on_ready(self, bound: Bound) -> None:
        self.bound = bound
        self.ready.set()


@contextmanager
def running(settings: ReceiverSettings = ANY_PORTS) -> Iterator[Receiver]:
    """Run a receiver on free ports, and stop it at the end."""
    receiver = Receiver()
    with ThreadPoolExecutor(1) as threads:
        serving = threads.submit(asyncio.run, receiver.serve(settings))
        try:
            assert receiver.ready.wait(10), serving.exception(0)
            yield receiver
        finally:
            receiver.gate.set()
            receiver.stop()
            serving.result(20)
