"""The process that sends the load: prepared requests under new ids, over OTLP/gRPC or OTLP/HTTP."""

import asyncio
import gc
import multiprocessing
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from multiprocessing.connection import Connection

import grpc
import grpc.aio
import numpy as np
import numpy.typing as npt
import urllib3
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from downstream import METHOD
from load import DISTINCT_SPANS, Template, TraceKeys, requests

BACKOFF_SECONDS = 0.1
HTTP_SECONDS = 60.0
PROTOBUF = {"content-type": "application/x-protobuf"}

Export = Callable[[bytes], Awaitable[bytes]]
"""A request in, the answer out; Refused otherwise."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to send to an endpoint: HOST:PORT for OTLP/gRPC, http://HOST:PORT/PATH for OTLP/HTTP."""

    endpoint: str
    seconds: float
    rate: float | None  # spans a second; None: as fast as they are acknowledged
    spans_per_request: int
    in_flight: int
    spans: int | None = None  # no more than these, in whole requests
    headers: Mapping[str, str] = field(default_factory=dict)  # of OTLP/HTTP


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of it. Moments are time.perf_counter(), which all processes share."""

    begun: float
    ended: float
    acknowledged: int  # spans
    refused: int  # spans
    requests: int  # acknowledged
    refusals: dict[str, int]  # calls by what the service said
    bytes_per_span: float
    latency_ms: dict[str, float]
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """Which traces were sent, in ascending order, and when the last span of each was acknowledged."""

    traces: TraceKeys
    moments: npt.NDArray[np.float64]  # time.perf_counter()


class Refused(Exception):
    """The service did not take a request."""


class Generator:
    """The running process, its requests prepared."""

    def __init__(self, control: Connection) -> None:
        self._control = control

    def begin(self) -> None:
        """Have it send."""
        self._control.send("begin")

    def is_done(self) -> bool:
        """Whether it has sent all, and has been answered."""
        return self._control.poll()

    def sent(self) -> Sent:
        """Wait for the end, and return what became of it."""
        sent: Sent = self._control.recv()
        return sent

    def ended(self) -> Ended:
        """Return when traces ended; once, and after `sent`."""
        self._control.send("ended")
        ended: Ended = self._control.recv()
        return ended


@contextmanager
def generator(plan: Plan) -> Iterator[Generator]:
    """Start the process, and wait until it is ready."""
    spawn = multiprocessing.get_context("spawn")
    control, far_end = spawn.Pipe()
    process = spawn.Process(target=offer, args=(plan, far_end), daemon=True)
    process.start()
    far_end.close()
    control.recv()
    try:
        yield Generator(control)
    finally:
        process.terminate()
        process.join()


def offer(plan: Plan, control: Connection) -> None:
    """Be that process: prepare, say so, and once told send and answer with Sent, and when asked again with Ended."""
    count = -(-min(DISTINCT_SPANS, plan.spans or DISTINCT_SPANS) // plan.spans_per_request)
    templates = [Template(request) for request in islice(requests(plan.spans_per_request), count)]
    gc.freeze()
    sender = _Sender(plan, templates)
    asyncio.run(sender.run(control))
    control.recv()
    control.send(sender.ended())


async def _moment(due: float) -> float:
    """Wait until a request is due, and return from when its latency counts.

    One that is late counts from when it was due, so that a pause of the service is not overlooked.
    """
    early = due - time.perf_counter()
    if early <= 0:
        return due
    await asyncio.sleep(early)
    return time.perf_counter()


class _Sender:
    """Several unary calls at a time, from one event loop."""

    def __init__(self, plan: Plan, templates: Sequence[Template]) -> None:
        self._plan, self._templates = plan, templates
        self._most = -(-plan.spans // plan.spans_per_request) if plan.spans else None
        self._turn = 0
        self._begun = 0.0
        self._acknowledged = self._refused = self._bytes = 0
        self._refusals = Counter[str]()
        self._latencies: list[float] = []
        self._answered: list[tuple[int, float]] = []  # turn, moment

    async def run(self, control: Connection) -> None:
        async with _exporter(self._plan) as export:
            control.send("ready")
            control.recv()
            cpu, self._begun = time.process_time(), time.perf_counter()
            await asyncio.gather(*(self._send(export) for _ in range(self._plan.in_flight)))
            control.send(self._sent(time.perf_counter(), time.process_time() - cpu))

    def ended(self) -> Ended:
        """Find the last answer of each trace, which may be cut over two requests."""
        places = [divmod(turn, len(self._templates)) for turn, _ in self._answered]
        sent = [self._templates[place].traces(number) for number, place in places]
        traces, found = np.unique(np.concatenate([np.empty(0, np.uint64), *sent]), return_inverse=True)
        last = np.zeros(len(traces))
        moments = [moment for _, moment in self._answered]
        np.maximum.at(last, found, np.repeat(moments, [len(keys) for keys in sent]))
        return Ended(traces, last)

    async def _send(self, export: Export) -> None:
        while claimed := self._claim():
            turn, due = claimed
            begun = await _moment(due)
            number, place = divmod(turn, len(self._templates))
            request = self._templates[place].stamped(number)
            try:
                response = ExportTraceServiceResponse.FromString(await export(request))
            except Refused as refused:
                self._refused += self._plan.spans_per_request
                self._refusals[str(refused)] += 1
                await asyncio.sleep(BACKOFF_SECONDS)
                continue
            now = time.perf_counter()
            self._latencies.append(now - begun)
            self._answered.append((turn, now))
            rejected = response.partial_success.rejected_spans
            self._refused += rejected
            self._acknowledged += self._plan.spans_per_request - rejected
            self._bytes += len(request)

    def _claim(self) -> tuple[int, float] | None:
        """Return the number of the next request and when it is due; None at the end."""
        now, end = time.perf_counter(), self._begun + self._plan.seconds
        rate, turn = self._plan.rate, self._turn
        due = self._begun + turn * self._plan.spans_per_request / rate if rate else now
        if max(now, due) >= end or turn == self._most:
            return None
        self._turn += 1
        return turn, due

    def _sent(self, ended: float, cpu_seconds: float) -> Sent:
        p50, p99, most = np.percentile(self._latencies or [float("nan")], (50, 99, 100)) * 1000
        return Sent(
            begun=self._begun,
            ended=ended,
            acknowledged=self._acknowledged,
            refused=self._refused,
            requests=len(self._answered),
            refusals=dict(self._refusals),
            bytes_per_span=self._bytes / max(self._acknowledged, 1),
            latency_ms={"p50": float(p50), "p99": float(p99), "max": float(most)},
            cpu_seconds=cpu_seconds,
        )


@asynccontextmanager
async def _exporter(plan: Plan) -> AsyncIterator[Export]:
    open_exporter = _http_exporter if plan.endpoint.startswith("http://") else _grpc_exporter
    async with open_exporter(plan) as export:
        yield export


@asynccontextmanager
async def _grpc_exporter(plan: Plan) -> AsyncIterator[Export]:
    async with grpc.aio.insecure_channel(plan.endpoint) as channel:
        await channel.channel_ready()
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHOD, None, None)

        async def export(request: bytes) -> bytes:
            try:
                return await call(request)
            except grpc.aio.AioRpcError as error:
                raise Refused(f"{error.code().name}: {error.details()}") from error

        yield export


@asynccontextmanager
async def _http_exporter(plan: Plan) -> AsyncIterator[Export]:
    with urllib3.PoolManager(maxsize=plan.in_flight, timeout=HTTP_SECONDS, retries=False) as pool:

        def post(request: bytes) -> bytes:
            response = pool.request("POST", plan.endpoint, body=request, headers=PROTOBUF | dict(plan.headers))
            if response.status != HTTPStatus.OK:
                raise Refused(f"{response.status}: {response.data[:200]!r}")
            return response.data

        async def export(request: bytes) -> bytes:
            try:
                return await asyncio.to_thread(post, request)
            except urllib3.exceptions.HTTPError as error:
                raise Refused(repr(error)) from error

        yield export
