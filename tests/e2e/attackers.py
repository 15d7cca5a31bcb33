"""Payloads and clients that mean harm, and a client beside them that does not."""

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Self

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from e2e.clients import grpc_export, post
from otlp import S, payload
from receive.harness import PROTOBUF
from weaklink_service import Service

MIB = 1 << 20
HEAD = f"POST /v1/traces HTTP/1.1\r\nhost: a\r\ncontent-type: {PROTOBUF}\r\n"


class Honest:
    """`with Honest(...)` sends small requests by turns over both doors; `longest` is what one took, in seconds."""

    def __init__(self, service: Service, trace: int) -> None:
        self.acknowledged = 0
        self.longest = 0.0
        self._service, self._trace = service, trace
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._fault: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        if self._fault:
            raise self._fault

    def _run(self) -> None:
        try:
            with grpc_export(self._service) as export:
                while True:
                    self._send(lambda body: export(body, timeout=30))
                    self._send(lambda body: post(self._service, body).response)
                    if self._done.wait(0.02):
                        return
        except BaseException as fault:  # noqa: BLE001 - raised again in the test's own thread
            self._fault = fault

    def _send(self, send: Callable[[bytes], ExportTraceServiceResponse]) -> None:
        body = payload([S(self._trace, self.acknowledged + 1, "honest")])
        start = time.monotonic()
        assert send(body) == ExportTraceServiceResponse()
        self.longest = max(self.longest, time.monotonic() - start)
        self.acknowledged += 1


def gzip_bomb(size: int) -> bytes:
    """So many zeros in a thousandth of that; what ends the stream is left out."""
    compressor = zlib.compressobj(9, wbits=31)
    head = compressor.compress(b"") + compressor.flush(zlib.Z_FULL_FLUSH)
    return head + (compressor.compress(bytes(MIB)) + compressor.flush(zlib.Z_FULL_FLUSH)) * (size // MIB)


def connect(address: str) -> socket.socket:
    """A TCP connection."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


@contextmanager
def crowd(address: str, count: int, greeting: bytes = b"") -> Iterator[list[socket.socket]]:
    """Many connections, each with something said first."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(connect(address))) for _ in range(count)]
        for each in sockets:
            each.sendall(greeting)
        yield sockets


def drip(sockets: Sequence[socket.socket], data: bytes, seconds: float) -> None:
    """Send each of them one byte at a time for so long, whether they are open still or not."""
    end = time.monotonic() + seconds
    for byte in iter(lambda: data, None):
        for each in sockets:
            with suppress(OSError):
                each.sendall(byte)
        if time.monotonic() > end:
            return
        time.sleep(0.1)


def flood(connection: socket.socket, data: bytes, most: int) -> None:
    """Send it again and again; OSError as soon as no more is taken. It never takes this much."""
    for _ in range(most // len(data)):
        connection.sendall(data)


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has hung up."""
    connection.settimeout(0.001)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@contextmanager
def idle_channels(address: str, count: int) -> Iterator[None]:
    """Many gRPC connections, each of its own, that send nothing."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    with ExitStack() as stack:
        channels = [stack.enter_context(grpc.insecure_channel(address, options=options)) for _ in range(count)]
        waiting = [grpc.channel_ready_future(channel) for channel in channels]
        for each in waiting:
            each.result(30)
        yield
