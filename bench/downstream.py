"""OTLP/gRPC servers that take what is forwarded to them, and keep count."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import numpy as np
import numpy.typing as npt
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from load import TraceKeys, trace_keys
from weaklink_processor.span_count import span_count

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LARGEST = ("grpc.max_receive_message_length", 64 * 2**20)
EVALUATOR = "weaklink"
"""The instrumentation scope of EVALUATOR spans."""
METADATA = "annotations.0.annotation.metadata"
OF_A_TRACE = '"scope":"trace"'


@contextmanager
def listening(take: Callable[[bytes], None]) -> Iterator[str]:
    """Serve, each request given to `take`; yields HOST:PORT."""

    def export(request: bytes, _: grpc.ServicerContext) -> bytes:
        take(request)
        return b""

    server = grpc.server(ThreadPoolExecutor(4), options=[LARGEST])
    service, method = METHOD.strip("/").split("/")
    handler = grpc.unary_unary_rpc_method_handler(export)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    endpoint = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield endpoint
    finally:
        server.stop(grace=0).wait()


class Tally:
    """Counts spans, at the least cost."""

    def __init__(self) -> None:
        self.spans = 0
        self._lock = threading.Lock()

    def take(self, request: bytes) -> None:
        """Count a request."""
        number = span_count(request)
        with self._lock:
            self.spans += number


class Verdicts:
    """Counts spans by instrumentation scope, and notes when the verdicts on traces come."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.spans = Counter[str]()
        self._clock = clock
        self._arrived: list[tuple[float, TraceKeys]] = []
        self._traces = set[bytes]()
        self._lock = threading.Lock()

    def take(self, request: bytes) -> None:
        """Count and note a request."""
        moment = self._clock()
        message = ExportTraceServiceRequest.FromString(request)
        scopes = [scope for resource in message.resource_spans for scope in resource.scope_spans]
        judged = [s.trace_id for scope in scopes if scope.scope.name == EVALUATOR for s in scope.spans if _on_trace(s)]
        with self._lock:
            for scope in scopes:
                self.spans[scope.scope.name] += len(scope.spans)
            if judged:
                self._arrived.append((moment, trace_keys(judged)))
                self._traces.update(judged)

    def traces(self) -> int:
        """Return how many traces there is a verdict on."""
        return len(self._traces)

    def arrived(self) -> tuple[TraceKeys, npt.NDArray[np.float64]]:
        """Return a trace and a moment of the clock for each verdict on a trace, in order of arrival."""
        with self._lock:
            arrived = list(self._arrived)
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for _, keys in arrived)])
        return keys, np.repeat([moment for moment, _ in arrived], [len(keys) for _, keys in arrived])


def _on_trace(span: Span) -> bool:
    return any(pair.key == METADATA and OF_A_TRACE in pair.value.string_value for pair in span.attributes)
