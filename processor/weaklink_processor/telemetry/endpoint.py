"""The HTTP endpoint that Prometheus scrapes: GET /metrics, in a thread of its own."""

import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import structlog

from weaklink_processor.errors import UsageError
from weaklink_processor.telemetry.exposition import CONTENT_TYPE

PATH = "/metrics"
_MOST_AT_ONCE = 16
log = structlog.get_logger(__name__)


class MetricsEndpoint:
    """Listens from its making until close(); UsageError: it cannot."""

    def __init__(self, host: str, port: int, text: Callable[[], str]) -> None:
        address = host.strip("[]")
        try:
            self._server = _server(address, port, text)
        except OSError as error:
            raise UsageError(f"cannot listen on {host}:{port} for metrics: {error.strerror or error}") from error
        self.url = f"http://{host}:{self._server.server_address[1]}{PATH}"
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def close(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._server.server_close()


def _server(address: str, port: int, text: Callable[[], str]) -> ThreadingHTTPServer:
    places = threading.BoundedSemaphore(_MOST_AT_ONCE)

    class Handler(BaseHTTPRequestHandler):
        timeout = 5  # seconds that a client may take to say what it wants

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != PATH:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            body = text().encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing of each scrape."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        daemon_threads = True

        def process_request(self, request: Any, client_address: Any) -> None:
            if places.acquire(blocking=False):
                super().process_request(request, client_address)
            else:  # whoever opens so many connections is no scraper
                self.shutdown_request(request)

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            try:
                super().process_request_thread(request, client_address)
            finally:
                places.release()

        def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  socketserver's signature
            log.debug("scrape failed", exc_info=True)  # noqa: LOG014  called where the exception is handled

    return Server((address, port), Handler)
