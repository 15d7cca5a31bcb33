"""Clients of a running service: one call and its answer, or a load that tries again until it is acknowledged."""

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from types import MappingProxyType
from typing import Self

import grpc
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from receive.harness import EXPORT, JSON, PROTOBUF, Answer
from weaklink_service import Service

_IDS = {"traceId", "spanId", "parentSpanId"}
_RETRYABLE = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.UNAVAILABLE,
}
_QUICK = (("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 300))
_RETRY_SECONDS = 0.05


def otlp_json(payload: bytes) -> bytes:
    """The same request in OTLP's JSON: ids in hex, enums as integers, lowerCamelCase."""
    message = MessageToDict(ExportTraceServiceRequest.FromString(payload), use_integers_for_enums=True)
    return json.dumps(_with_hex_ids(message), ensure_ascii=False).encode()


def _with_hex_ids(value: object) -> object:
    match value:
        case dict():
            return {
                key: base64.b64decode(item).hex() if key in _IDS else _with_hex_ids(item) for key, item in value.items()
            }
        case list():
            return [_with_hex_ids(item) for item in value]
    return value


def http(
    service: Service, method: str, path: str, body: object = None, headers: Mapping[str, str] = MappingProxyType({})
) -> Answer:
    """One HTTP request on a connection of its own."""
    with closing(HTTPConnection(service.http, timeout=30)) as connection:
        connection.request(method, path, body, dict(headers))  # type: ignore[arg-type]
        response = connection.getresponse()
        received = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, received, response.read())


def post(service: Service, body: object, media_type: str = PROTOBUF, **headers: str) -> Answer:
    """One export over HTTP."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return http(service, "POST", "/v1/traces", body, {"content-type": media_type, **more})


@contextmanager
def grpc_export(service: Service) -> Iterator[Callable[..., ExportTraceServiceResponse]]:
    """The Export method on a channel of its own: takes the payload and a call's options."""
    with grpc.insecure_channel(service.grpc, options=_QUICK) as channel:
        yield channel.unary_unary(EXPORT, lambda payload: payload, ExportTraceServiceResponse.FromString)


def send_by_grpc(service: Service, requests: Sequence[bytes]) -> None:
    """Every request must be taken whole."""
    with grpc_export(service) as export:
        for payload in requests:
            assert export(payload, timeout=30) == ExportTraceServiceResponse()


def send_by_http(service: Service, requests: Sequence[bytes]) -> None:
    """Every request must be taken whole."""
    for payload in requests:
        answer = post(service, payload)
        assert (answer.status, answer.response) == (200, ExportTraceServiceResponse())


def send_by_json(service: Service, requests: Sequence[bytes]) -> None:
    """Every request must be taken whole."""
    for payload in requests:
        answer = post(service, otlp_json(payload), JSON)
        assert (answer.status, answer.response) == (200, ExportTraceServiceResponse())


class Load:
    """`with Load(...)` lets two gRPC and two HTTP clients send all requests, each until it is acknowledged."""

    def __init__(self, service: Service, requests: Sequence[bytes], pause: float = 0.0) -> None:
        self.acknowledged: list[bytes] = []
        self.refusals = 0
        self._service, self._pause = service, pause
        self._waiting = deque(requests)
        self._given_up = threading.Event()
        self._pool = ThreadPoolExecutor(4)

    def __enter__(self) -> Self:
        self._clients = [self._pool.submit(run) for run in (self._by_grpc, self._by_http) * 2]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self._given_up.set()
        self._pool.shutdown()
        for client in self._clients:
            client.result()

    def finish(self) -> None:
        """Send nothing new; what is not acknowledged by now is still tried again."""
        self._waiting.clear()

    def give_up(self) -> None:
        """What is not acknowledged by now will not be tried again."""
        self._given_up.set()

    def _by_grpc(self) -> None:
        with grpc_export(self._service) as export:
            self._send_all(lambda payload: _taken_by_grpc(export, payload))

    def _by_http(self) -> None:
        self._send_all(lambda payload: _taken_by_http(self._service, payload))

    def _send_all(self, taken: Callable[[bytes], bool]) -> None:
        while self._waiting and not self._given_up.is_set():
            try:
                payload = self._waiting.popleft()
            except IndexError:  # another client was faster
                return
            while not taken(payload):
                self.refusals += 1
                if self._given_up.is_set():
                    return
                time.sleep(_RETRY_SECONDS)
            self.acknowledged.append(payload)
            time.sleep(self._pause)


def _taken_by_grpc(export: Callable[..., ExportTraceServiceResponse], payload: bytes) -> bool:
    try:
        assert export(payload, timeout=10) == ExportTraceServiceResponse()
    except grpc.RpcError as error:
        if error.code() not in _RETRYABLE:
            raise
        return False
    return True


def _taken_by_http(service: Service, payload: bytes) -> bool:
    try:
        answer = post(service, payload)
    except (OSError, HTTPException):
        return False
    assert answer.status in {200, 503}, answer
    return answer.status == 200
