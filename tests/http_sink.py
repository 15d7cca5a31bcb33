"""A real OTLP/HTTP trace server for tests: keeps what it is sent, and fails, dawdles or goes away on demand."""

import gzip
import socket
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from sink import Failure, Sink

PROTOBUF = "application/x-protobuf"


@dataclass(slots=True)
class HttpSink(Sink[int]):
    """`with HttpSink() as sink` listens on `sink.endpoint`; attempts have the path under `:path`."""

    tls: ssl.SSLContext | None = None
    page: bytes | None = None  # what each success has in place of OTLP's answer
    headers: dict[str, str] = field(default_factory=dict)  # of each answer, besides its own
    _server: "_Server | None" = None

    @property
    def endpoint(self) -> str:
        """The URL without a path, the same after `stop` and `start`."""
        return f"https://localhost:{self.port}" if self.tls else f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen; on the former port, if there was one."""
        handler = type("Handler", (_Handler,), {"sink": self})
        self._server = _Server(("127.0.0.1", self.port), handler)
        if self.tls:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Go away: calls in flight are cut off."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.cut_off()
            self._server = None

    def answer(self, request: bytes, metadata: dict[str, str | bytes]) -> tuple[int, dict[str, str], bytes]:
        """Return code, headers and content."""
        failure = self._take(request, metadata)
        if failure:
            return failure.code, self.headers | _refusal(failure), Status(message=failure.message).SerializeToString()
        answer = ExportTraceServiceResponse(partial_success=self.partial).SerializeToString()
        kind = PROTOBUF if self.page is None else "text/html"
        return 200, self.headers | {"content-type": kind}, answer if self.page is None else self.page


def _refusal(failure: Failure[int]) -> dict[str, str]:
    delay = {} if failure.retry_after is None else {"retry-after": f"{failure.retry_after:.0f}"}
    return {"content-type": PROTOBUF} | delay


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *settings: Any) -> None:
        self._lines: list[socket.socket] = []
        super().__init__(*settings)

    def get_request(self) -> tuple[socket.socket, Any]:
        line, address = super().get_request()
        self._lines.append(line)
        return line, address

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is no fault."""

    def cut_off(self) -> None:
        for line in self._lines:
            try:
                socket.socket.shutdown(line, socket.SHUT_RDWR)
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    sink: ClassVar[HttpSink]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        told: dict[str, str | bytes] = {name.lower(): value for name, value in self.headers.items()}
        code, headers, body = self.sink.answer(content, told | {":path": self.path, ":port": str(self.client_address)})
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests have their own output."""
